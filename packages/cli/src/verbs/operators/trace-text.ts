/** Traces as text: each a tree, with what an operation took and used. */
import { shortKey } from '@reprise/operators/names';
import type { Span } from '@reprise/otel';
import { escapeLine } from '../../text/escape.js';
import { cutToColumns, widthOfText } from '../../text/layout.js';
import { timeOf } from '../../text/record-line.js';

/** The newest traces, so that a world of any age is drawn in bounded memory. */
export class RecentTraces {
  /** By the id of the trace; the one that ended something last stands at the end. */
  readonly #traces = new Map<string, Span[]>();
  /** How many older traces were left out. */
  left = 0;

  constructor(private readonly limit: number) {}

  get all(): readonly (readonly Span[])[] {
    return [...this.#traces.values()];
  }

  take(spans: readonly Span[]): void {
    for (const span of spans) {
      const known = this.#traces.get(span.traceId) ?? [];
      this.#traces.delete(span.traceId);
      this.#traces.set(span.traceId, known);
      known.push(span);
      const [oldest] = this.#traces.keys();
      if (this.#traces.size <= this.limit || oldest === undefined) continue;
      this.#traces.delete(oldest);
      this.left++;
    }
  }
}

interface About {
  readonly world: string;
  readonly head: number;
  readonly after: number | undefined;
  readonly columns: number | undefined;
}

/** Draws traces, the newest last. */
export function traceText(recent: RecentTraces, { world, head, after, columns }: About): string {
  const within = after === undefined ? '' : ` after frame ${after}`;
  if (recent.all.length === 0) return `${escapeLine(world)}: no span has ended${within}\n`;
  const older = recent.left === 0 ? [] : [`${recent.left} older traces are left out: --limit shows more.`, ''];
  const drawn = recent.all.flatMap((spans) => [...treeLines(spans, columns), '']);
  return `${[...older, ...drawn, `Up to frame ${head}.`].join('\n')}\n`;
}

/** A line of a tree, before what stands to the right. */
interface Line {
  readonly left: string;
  readonly right: string;
}

function treeLines(spans: readonly Span[], columns: number | undefined): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = new Map<string, Span[]>();
  const roots: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.startMs - b.startMs || placeOf(a) - placeOf(b))) {
    const { parentSpanId } = span;
    if (parentSpanId === null || !ids.has(parentSpanId)) roots.push(span);
    else below.set(parentSpanId, [...(below.get(parentSpanId) ?? []), span]);
  }
  const lines: Line[] = [];
  const draw = (span: Span, before: string, branch: string, rest: string): void => {
    lines.push({ left: `${before}${branch}${nameOf(span)}`, right: amountsOf(span) });
    const children = below.get(span.spanId) ?? [];
    for (const [i, child] of children.entries()) {
      const isLast = i === children.length - 1;
      draw(child, `${before}${rest}`, isLast ? '└ ' : '├ ', isLast ? '  ' : '│ ');
    }
  };
  for (const root of roots) draw(root, '', '', '');
  const [first] = roots;
  const head = first === undefined ? '' : `${timeOf(first.startMs)}  trace ${first.traceId}`;
  return [head, ...laidOut(lines, columns)];
}

const GAP = '  ';

/** The amounts stand in one column, as far as the terminal is wide enough. */
function laidOut(lines: readonly Line[], columns: number | undefined): string[] {
  const right = Math.max(...lines.map((line) => widthOfText(line.right)));
  const widest = Math.max(...lines.map((line) => widthOfText(line.left)));
  const left = columns === undefined ? widest : Math.max(16, Math.min(widest, columns - right - GAP.length));
  return lines.map((line) => {
    const shown = cutToColumns(line.left, left);
    return `${shown}${' '.repeat(Math.max(0, left - widthOfText(shown)))}${GAP}${line.right}`.trimEnd();
  });
}

/** The name of a span, and what tells it from others of that name. */
function nameOf({ name, attributes }: Span): string {
  const place =
    attributes['reprise.run'] ??
    attributes['reprise.node'] ??
    attributes['reprise.task'] ??
    attributes['reprise.tree'] ??
    attributes['reprise.project'] ??
    attributes['reprise.swarm'] ??
    attributes['gen_ai.memory.store.id'];
  return escapeLine(place === undefined ? name : `${name} ${shortKey(String(place))}`);
}

function amountsOf(span: Span): string {
  const { startMs, endMs, attributes } = span;
  const tokens = [attributes['gen_ai.usage.input_tokens'], attributes['gen_ai.usage.output_tokens']];
  const used = tokens.every((one) => one === undefined) ? undefined : `${tokens[0] ?? 0}→${tokens[1] ?? 0} tokens`;
  const ended = attributes['error.type'] ?? attributes['reprise.status'];
  const isOpen = attributes['reprise.open'] === true;
  const said = isOpen ? 'open' : ended === undefined ? undefined : escapeLine(String(ended));
  return [secondsOf(endMs - startMs), used, said].filter((one) => one !== undefined).join(GAP);
}

function secondsOf(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(ms < 100_000 ? 1 : 0)} s`;
}

/** The order of what began at the same time: by the record that began it. */
function placeOf({ attributes }: Span): number {
  const [frame = 0, record = 0] = String(attributes['reprise.begun']).split('.').map(Number);
  return frame * 1e6 + record;
}
