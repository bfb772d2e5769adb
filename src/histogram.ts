import type { Metric, MetricValueWithName, Registry } from 'prom-client';

interface Series {
  /** Observations by the first bound that they do not exceed; the last one: beyond all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

/**
 * A histogram with one label, for what is observed several times in each call, printed by prom-client like its own. That one looks up labels and bounds by their texts for each
 * observation, which costs ten times as much.
 */
export class CallHistogram<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly labelNames: readonly [string];
  readonly #bounds: readonly number[];
  readonly #series = new Map<Label, Series>();

  /** `buckets`: upper bounds, ascending. */
  constructor(options: {
    readonly name: string;
    readonly help: string;
    readonly labelName: string;
    readonly buckets: readonly number[];
    readonly registers: readonly Registry[];
  }) {
    this.name = options.name;
    this.help = options.help;
    this.labelNames = [options.labelName];
    this.#bounds = options.buckets;
    for (const registry of options.registers) registry.registerMetric(this as unknown as Metric);
  }

  observe(label: Label, value: number): void {
    let series = this.#series.get(label);
    if (series === undefined) {
      series = { counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
      this.#series.set(label, series);
    }
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at++;
    series.counts[at] = (series.counts[at] as number) + 1;
    series.sum += value;
  }

  /** What prom-client prints. */
  async get() {
    const values = [...this.#series].flatMap(([label, series]) => this.#valuesOf(label, series));
    return { name: this.name, help: this.help, type: this.type, aggregator: 'sum', values };
  }

  #valuesOf(label: Label, { counts, sum }: Series): MetricValueWithName<string>[] {
    const labels = { [this.labelNames[0]]: label };
    let count = 0;
    const buckets = [...counts].map((added, at) => {
      count += added;
      return {
        metricName: `${this.name}_bucket`,
        labels: { le: this.#bounds[at] ?? '+Inf', ...labels },
        value: count,
      };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
