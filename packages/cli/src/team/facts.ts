/** A team as lines and as events: what the facts of a project and of its coordinator's session say. */
import { readLlmOutput, SESSION_REDUCER } from '@reprise/agent';
import { type Actor, actorWords, failureMeaning, isRef, type JournalRecord, type Ref } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { decisionText } from '@reprise/operators/names';
import { coordinatorOf, PROJECT } from '@reprise/specialists/contracts';

/** A fact of a project, or an answer of its coordinator. */
export interface TeamFact {
  /** The name without namespace and version: `TaskChanged`; `Said` for an answer of the coordinator. */
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
}

const OF_PROJECT = /^specialists\/(\w+)@1$/;

/** The fact of a project that a record is; undefined for any other record. */
export function teamFactIn(record: JournalRecord, project: string): TeamFact | undefined {
  if (record.kind !== 'fact' || record.from === null) return undefined;
  const [reducer, key] = record.from;
  const value = record.value as Readonly<Record<string, unknown>>;
  if (reducer === PROJECT && key === project) {
    const name = OF_PROJECT.exec(record.name)?.[1];
    return name === undefined ? undefined : { name, value };
  }
  if (reducer !== SESSION_REDUCER || key !== coordinatorOf(project)[1]) return undefined;
  return record.name === 'aos.agent/LlmStepAnswered@1' ? { name: 'Said', value } : undefined;
}

/** A person's view of a change, in one line; undefined for a change that only programs want. */
export async function lineOfFact({ name, value }: TeamFact, content: ContentReader): Promise<string | undefined> {
  const { task, title, skill, status, code, result } = value;
  const by = value.by === undefined ? '' : ` by ${actorWords(value.by as Actor)}`;
  const meaning = failureMeaning(String(code));
  const words = meaning === undefined ? String(code) : `${meaning} (${String(code)})`;
  const why = code === null || code === undefined ? '' : ` · ${words}${by}`;
  switch (name) {
    case 'PlanWritten':
      return `+ ${(value.tasks as readonly unknown[]).length} tasks planned`;
    case 'Acted':
      return TOLD_ELSE.includes(String(value.act))
        ? undefined
        : `! ${String(value.act)}${task === null ? '' : ` task ${task}`}${by}${reasonOf(value.reason)}`;
    case 'TaskChanged':
      return `${MARKS[String(status)] ?? '·'} task ${task} [${status}] ${skill}: ${title}${why}`;
    case 'ResultStored': {
      const text = isRef(value.output_ref) ? await summary(content, value.output_ref) : '';
      const of = task === null ? '' : ` of task ${task}`;
      return `${MARKS[String(status)] ?? '·'} result ${result}${of} [${status}] ${skill}: ${title}${why}${text === '' ? '' : ` · ${text}`}`;
    }
    case 'Said':
      return (value.calls as readonly unknown[]).length > 0 ? undefined : said(content, value.output_ref as Ref);
    case 'DecisionNeeded':
      return `? a decision is needed: ${whyNeeded(value)}`;
    case 'NotRead':
      return `✗ the team could not be read: ${String(code)}`;
    default:
      return undefined;
  }
}

/** Acts whose lines say more than that they were done: what people say, and the plans that they write. */
const TOLD_ELSE: readonly string[] = ['say', 'plan', 'open', 'remember'];

/** The reason of an act, where one was given. */
function reasonOf(reason: unknown): string {
  return reason === undefined ? '' : `: ${String(reason)}`;
}

/** What a person has to decide about, in a few words. */
function whyNeeded({ why, code, tasks }: TeamFact['value']): string {
  if (why === 'tasks') return (tasks as readonly unknown[]).map((n) => `task ${n}`).join(', ');
  return code === null ? decisionText(String(why)) : `${decisionText(String(why))} (${String(code)})`;
}

const MARKS: Readonly<Record<string, string>> = {
  pending: '○',
  blocked: '◌',
  queued: '○',
  running: '●',
  waiting: '◐',
  completed: '✓',
  ok: '✓',
  failed: '✗',
  timeout: '✗',
  skipped: '–',
  cancelled: '–',
};

/** The mark of a state. */
export function markOf(status: string): string {
  return MARKS[status] ?? '·';
}

const SHOWN_UNITS = 100;

/** The first line of an output. */
async function summary(content: ContentReader, ref: Ref): Promise<string> {
  const text = (await readOutput(content, ref)).split('\n').find((line) => line.trim() !== '') ?? '';
  return text.length > SHOWN_UNITS ? `${text.slice(0, SHOWN_UNITS)}…` : text;
}

async function said(content: ContentReader, ref: Ref): Promise<string | undefined> {
  const text = await summary(content, ref);
  return text === '' ? undefined : `> ${text}`;
}

/** The text of a model's output. */
export async function readOutput(content: ContentReader, ref: Ref): Promise<string> {
  return (await readLlmOutput(content, ref)).text ?? '';
}
