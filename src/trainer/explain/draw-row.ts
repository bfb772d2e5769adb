import type { Row, RowSpan } from '../rows.ts';
import type { CallNames } from './call-names.ts';
import { count, table } from './table.ts';

/** Up to so many tokens a row is shown token by token. */
const SHORT_ROW = 24;
const BAR_CELLS = 60;

/** Context, generated without loss here, generated with loss. */
const MARKS = { context: '·', generated: '▒', loss: '█' } as const;

export const MARKS_LEGEND = `${MARKS.context} context   ${MARKS.generated} generated, its loss is in an earlier row or filtered   ${MARKS.loss} generated, with loss`;

/** A row: its calls and lengths, then its tokens with their masks, or a bar of them where they are many. */
export function drawRow(row: Row, names: CallNames): string[] {
  const withLoss = row.lossMask.reduce((sum, mask) => sum + mask, 0);
  const calls = row.spans.map((span) => names.of(span.callId)).join(' ');
  const weights = [...new Set(row.spans.map((span) => span.weightVersion))].join(', ');
  const head = `${row.rowId}  ${calls}  ${count(row.tokenIds.length, 'token')}, ${withLoss} with loss, weights ${weights}`;
  const body = row.tokenIds.length <= SHORT_ROW ? drawTokens(row) : drawBar(row, names);
  return [head, ...body.map((line) => `  ${line}`)];
}

function drawTokens(row: Row): string[] {
  const cells = row.tokenIds.map((token) => Math.max(String(token).length, 1));
  const line = (label: string, texts: readonly string[]) =>
    `${label}  ${texts.map((text, at) => text.padStart(cells[at] as number)).join(' ')}`;
  return [
    line('tokens', row.tokenIds.map(String)),
    line('mask  ', row.lossMask.map(String)),
    line(
      '      ',
      row.tokenIds.map((_, at) => markAt(row, at)),
    ),
  ];
}

function drawBar(row: Row, names: CallNames): string[] {
  const length = row.tokenIds.length;
  const cells = Array.from({ length: Math.min(BAR_CELLS, length) }, (_, cell) => {
    const at = Math.floor((cell * length) / Math.min(BAR_CELLS, length));
    return markAt(row, at);
  });
  const spans = row.spans.map((span) => [
    names.of(span.callId),
    span.from,
    `to ${span.to}`,
    `${count(span.generatedFrom - span.from, 'token')} of context`,
    `${span.to - span.generatedFrom} generated${span.withLoss ? ', with loss' : ''}`,
  ]);
  return [cells.join(''), ...table(spans)];
}

function markAt(row: Row, at: number): string {
  const span = row.spans.find(({ to }) => at < to) as RowSpan;
  if (at < span.generatedFrom) return MARKS.context;
  return row.lossMask[at] === 1 ? MARKS.loss : MARKS.generated;
}
