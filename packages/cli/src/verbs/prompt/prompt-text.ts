/** A request to a model as text for people: a line for each part says where it comes from, a line below what it holds. */
import { shortText } from '@reprise/contracts';
import type { PartOrigin, PromptPart, RequestReport } from '@reprise/operators/prompt';
import { escapeLine } from '../../text/escape.js';
import { cutToColumns } from '../../text/layout.js';

interface TextLayout {
  /** The width of the terminal; undefined where lines are not fitted. */
  readonly columns: number | undefined;
  /** Whether texts are printed whole. */
  readonly full: boolean;
}

/** How many characters of a text are shown. */
const EXCERPT_MAX = 240;

/** The columns before the words of a part. */
const INDENT = 11;

/** A request as text. It holds no long id: what has one is shown by its beginning. */
export function promptText(report: RequestReport, layout: TextLayout): string {
  const lines = [
    titleOf(report),
    digestWords(report),
    '',
    ...report.parts.flatMap((part) => partLines(part, report, layout)),
    '',
    ...leftOutLines(report),
  ];
  const fitted = layout.columns;
  return `${lines
    .map((line) => (layout.full ? line : withoutIds(line)))
    .map((line) => (fitted === undefined || layout.full ? line : cutToColumns(line, fitted)))
    .join('\n')}\n`;
}

function titleOf({ step, session, asked, alias, usage, status }: RequestReport): string {
  const place = step === null ? 'a model call' : `step ${step.step} of run ${step.run}`;
  const whom = asked === null ? `model ${alias}` : `${asked.profile}/${asked.model}`;
  const tokens =
    usage?.tokens_in === undefined
      ? []
      : [`${thousands(usage.tokens_in)} tokens in, ${thousands(usage.tokens_out ?? 0)} out`];
  const ended = status === 'ok' ? [] : [status === 'open' ? 'not answered yet' : `ended: ${status}`];
  return [`${place} of ${shortKey(session)}`, whom, ...tokens, ...ended].map(escapeLine).join(' · ');
}

function digestWords({ sent, bytes }: RequestReport): string {
  if (sent.isSame === true) return `${bytes.sent ?? 0} bytes as sent · same digest as recorded ✓`;
  if (sent.recorded === null) return 'as it would be sent: without an answer no digest is recorded';
  return `${bytes.sent ?? 0} bytes as sent · not reproducible here: ${REASONS[sent.why ?? 'no_writer']}`;
}

const REASONS: Readonly<Record<NonNullable<RequestReport['sent']['why']>, string>> = {
  no_answer: 'there is no answer',
  no_writer: 'no built-in writer makes the same bytes',
  erased: 'content was erased',
  unknown_prompt: 'a newer release recorded it',
};

function partLines(part: PromptPart, report: RequestReport, layout: TextLayout): string[] {
  const name = part.part === 'message' ? (part.role ?? '') : part.part;
  const size = `${thousands(part.bytes)} B`;
  const since = sinceOf(report);
  const origins = [...new Set(part.origins.map((one) => originWords(one)))].join('; ');
  const diff = part.part === 'tools' ? toolsWords(report, since) : part.isNew ? `NEW since ${since}` : '';
  const head = [`${name.padEnd(INDENT)}${size}`, diff, origins].filter((word) => word !== '').join(' · ');
  return [escapeLine(head), ...textLines(wordsOf(part), layout)];
}

/** The step before; with its run where that is another one. */
function sinceOf({ before, step }: RequestReport): string {
  if (before?.step == null) return 'the call before';
  return `step ${before.step}${before.run === step?.run ? '' : ` of run ${before.run}`}`;
}

function textLines(text: string, { full }: TextLayout): string[] {
  const pad = ' '.repeat(INDENT);
  if (full) return text.split('\n').map((line) => `${pad}${escapeLine(line)}`);
  const excerpt = shortText(text.replace(/\s+/g, ' ').trim(), EXCERPT_MAX);
  return excerpt === '' ? [] : [`${pad}${escapeLine(excerpt)}`];
}

/** Where a part comes from. */
function originWords(origin: PartOrigin): string {
  const { frame, from, tool, call_id, lane, name } = origin;
  const place = frame === undefined ? 'further back' : `frame ${frame}`;
  switch (origin.kind) {
    case 'message':
      return `${place}${from === undefined ? '' : `, ${from}`}${origin.as === 'input' ? '' : ` (${origin.as})`}`;
    case 'answer':
      return `${place}, the model`;
    case 'result':
      return `${place}, ${tool} ${call_id}`;
    case 'late':
      return `${place}, ${tool} ${call_id}, late`;
    case 'configuration':
      return `set in ${place}`;
    case 'context':
      return `${lane} ${name}`;
    case 'summary':
      return 'summary of what stands before';
    case 'request':
      return 'request for a summary';
    default:
      return 'a notice of the runtime';
  }
}

function toolsWords({ tools, parts }: RequestReport, since: string): string {
  const count = listIn(parts.find(({ part }) => part === 'tools')?.value).length;
  if (tools === null) return `${count}`;
  const changes = [
    ...tools.added.map((name) => `+${name}`),
    ...tools.removed.map((name) => `-${name}`),
    ...tools.changed.map((name) => `~${name}`),
  ];
  return `${count}, since ${since}: ${changes.length === 0 ? 'the same' : changes.join(' ')}`;
}

/** What a part holds, in words. */
function wordsOf({ part, value }: PromptPart): string {
  if (part === 'system') return String(value);
  if (part === 'tools')
    return listIn(value)
      .map((tool) => String(fieldsIn(tool).name))
      .join(', ');
  const { text, parts, calls, opaque, media } = fieldsIn(value);
  const reasoning = listIn(opaque).flatMap((one) => {
    const { kind, text: said } = fieldsIn(one);
    return kind === 'reasoning' && typeof said === 'string' ? [`(thinks) ${said}`] : [];
  });
  const said = [...listIn(parts), ...listIn(media)].map(pieceWords);
  const called = listIn(calls).map(
    (one) => `calls ${String(fieldsIn(one).tool)} ${JSON.stringify(fieldsIn(one).args)}`,
  );
  return [...reasoning, ...(typeof text === 'string' ? [text] : []), ...said, ...called].join('\n');
}

function pieceWords(piece: unknown): string {
  const { kind, text, name, mediaType, bytes } = fieldsIn(piece);
  return kind === 'media' ? `[${String(name)}: ${String(mediaType)}, ${String(bytes)} bytes]` : String(text);
}

function leftOutLines({ left_out: out, before, parts }: RequestReport): string[] {
  const context = parts.flatMap(({ origins }) =>
    origins.flatMap(({ kind, lane, name }) => (kind === 'context' ? [`${lane} ${name}`] : [])),
  );
  const unknown = out.context_unknown === true ? 'not recorded: the call has no answer' : 'none';
  const dropped = out.dropped === 0 ? '' : `, ${out.dropped} files taken out`;
  return [
    `${'left out'.padEnd(INDENT)}${out.items} items${out.is_summarised ? ', summarised' : ''}${dropped}`,
    `${'context'.padEnd(INDENT)}${context.length === 0 ? unknown : context.join(', ')}`,
    ...(out.warnings.length === 0 ? [] : [`${'changed'.padEnd(INDENT)}${out.warnings.join(', ')}`]),
    `${'before'.padEnd(INDENT)}${before === null ? 'no call of this session' : `the call of frame ${before.frame}`}`,
  ].map(escapeLine);
}

/** Ids of 32 digits or more, by their beginning. */
function withoutIds(line: string): string {
  return line.replace(/[0-9a-f]{32,}/g, (id) => `${id.slice(0, 8)}…`);
}

const shortKey = withoutIds;

function thousands(count: number): string {
  return count < 10_000 ? `${count}` : `${(count / 1000).toFixed(1)}k`;
}

function listIn(thing: unknown): readonly unknown[] {
  return Array.isArray(thing) ? thing : [];
}

function fieldsIn(thing: unknown): Readonly<Record<string, unknown>> {
  return typeof thing === 'object' && thing !== null ? (thing as Readonly<Record<string, unknown>>) : {};
}
