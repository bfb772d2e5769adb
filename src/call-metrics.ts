import type { Metric, MetricValueWithName, Registry } from 'prom-client';

/**
 * Metrics for what happens several times in each call, printed by prom-client like its own. Those look labels and bounds up by texts that they put together each time, which
 * costs ten times as much.
 */

interface About {
  readonly name: string;
  readonly help: string;
  readonly registers: readonly Registry[];
}

abstract class CallMetric {
  readonly name: string;
  readonly help: string;
  abstract readonly type: 'histogram' | 'counter';
  abstract readonly labelNames: readonly string[];

  constructor({ name, help, registers }: About) {
    this.name = name;
    this.help = help;
    for (const registry of registers) registry.registerMetric(this as unknown as Metric);
  }

  /** What prom-client prints. */
  async get() {
    return { name: this.name, help: this.help, type: this.type, aggregator: 'sum', values: this.values() };
  }

  protected abstract values(): MetricValueWithName<string>[];
}

interface Series {
  /** Observations by the first bound that they do not exceed; the last one: beyond all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

/** A histogram with one label. */
export class CallHistogram<Label extends string> extends CallMetric {
  readonly type = 'histogram';
  readonly labelNames: readonly [string];
  readonly #bounds: readonly number[];
  readonly #series = new Map<Label, Series>();

  /** `buckets`: upper bounds, ascending. */
  constructor(options: About & { readonly labelName: string; readonly buckets: readonly number[] }) {
    super(options);
    this.labelNames = [options.labelName];
    this.#bounds = options.buckets;
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

  protected values(): MetricValueWithName<string>[] {
    return [...this.#series].flatMap(([label, series]) => this.#valuesOf(label, series));
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

interface Count {
  readonly labels: Readonly<Record<string, string>>;
  value: number;
}

/** A counter whose labels are given in the order of their names. */
export class CallCounter<Values extends readonly string[]> extends CallMetric {
  readonly type = 'counter';
  readonly labelNames: readonly string[];
  readonly #counts = new Map<string, Count>();

  constructor(options: About & { readonly labelNames: { readonly [Index in keyof Values]: string } }) {
    super(options);
    this.labelNames = options.labelNames;
  }

  inc(...values: Values): void {
    const key = values.join('\0');
    let count = this.#counts.get(key);
    if (count === undefined) {
      count = { labels: Object.fromEntries(this.labelNames.map((name, at) => [name, values[at] as string])), value: 0 };
      this.#counts.set(key, count);
    }
    count.value++;
  }

  protected values(): MetricValueWithName<string>[] {
    return [...this.#counts.values()].map(({ labels, value }) => ({ metricName: this.name, labels, value }));
  }
}
