/**
 * Explains an act: the chain of causes from the act back to the words of a person. The call and its outcome, who
 * approved it, the answer of the model that made it, what the model had read before, the messages of the run; and for a
 * child session the same for the call of its parent.
 */
import { type Ref, requireFields, requireMethods } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import type { Cursor } from '../contracts/agent-event.js';
import { type Act, callOf } from './acts.js';
import { answerText, argsText } from './event-words.js';
import { messageText, sentBy } from './messages.js';
import { runOf, stepOf } from './places.js';
import type { HistorySource } from './source.js';
import { type Causes, type Settled, type Target, Trail } from './trail.js';
import { actedWords, amount, bounded, nonExecutionWords, quoted, shortRef, textAt } from './words.js';

/** One link of a chain of causes. */
export interface WhyLink {
  readonly link: 'call' | 'change' | 'outcome' | 'decision' | 'answer' | 'read' | 'message' | 'earlier' | 'parent';
  /** Its place in the journal; null when it has none of its own. */
  readonly place: Cursor | null;
  readonly session: string;
  /** How far the link is indented below the link that it belongs to. */
  readonly depth: number;
  /** The link in words, with a text of others last. Escape it before it reaches a terminal. */
  readonly words: string;
}

/** How much of a text a link shows, in UTF-16 units. */
const TEXT_UNITS = 240;
const READ_ARGS_UNITS = 80;
const READ_UNITS = 120;
/** How many sessions above a session are followed. */
const PARENTS_MAX = 16;

/**
 * The chain of causes of an act, from the act back to the words that it answers. Reads the journal once for the act, and
 * twice for each session above its session.
 *
 * @param act a result of `findActs`
 */
export async function explainAct(source: HistorySource, act: Act): Promise<readonly WhyLink[]> {
  requireMethods(source, ['frames'], 'explainAct(source)', 'a history, from historyOf(world.kernel)');
  requireFields(act, 'explainAct(act)', 'an act, from findActs');
  const links: WhyLink[] = [];
  let target: Target | undefined = targetOf(act);
  for (let level = 0; target !== undefined && level <= PARENTS_MAX; level++) {
    const trail: Trail = new Trail(target);
    for await (const frame of source.frames()) if (!trail.take(frame)) break;
    links.push(...(await new Words(source.content, trail).links()));
    const { cause }: Causes = trail.causes;
    const parent: Act | undefined = cause?.kind === 'parent' ? await callOf(source, cause) : undefined;
    target = parent && targetOf(parent);
  }
  return links;
}

function targetOf({ kind, session, run, call_id, step_id, place }: Act): Target {
  if (kind === 'message') return { session, run, place };
  if (kind === 'answer') return { session, run, ...(step_id === undefined ? {} : { step_id }) };
  return { session, run, ...(call_id === undefined ? {} : { call_id }) };
}

/** The causes of an act in words. */
class Words {
  readonly #causes: Causes;

  constructor(
    private readonly content: ContentReader,
    private readonly trail: Trail,
  ) {
    this.#causes = trail.causes;
  }

  async links(): Promise<WhyLink[]> {
    return [
      ...(await this.#callLinks()),
      ...(await this.#answerLinks()),
      ...(await this.#readLinks()),
      ...(await this.#messageLinks()),
      ...this.#parentLinks(),
    ];
  }

  async #callLinks(): Promise<WhyLink[]> {
    const { call, outcome } = this.#causes;
    if (call === undefined) return [];
    const args = bounded(await argsText(this.content, call.ref), TEXT_UNITS);
    const title = `${call.tool} was called (${call.call_id}, ${at(call.event_seq)}): ${args}`;
    const changes = (outcome?.changes ?? []).map(({ path, after_ref }) => {
      const what = after_ref === null ? `it removed ${path}` : `it wrote ${path}, ${shortRef(after_ref)}`;
      return this.#link('change', outcome?.event.event_seq ?? null, 1, what);
    });
    return [
      this.#link('call', call.event_seq, 0, title),
      ...changes,
      await this.#outcomeLink(),
      ...(await this.#decisionLinks(call.event_seq)),
    ];
  }

  async #outcomeLink(): Promise<WhyLink> {
    const { outcome } = this.#causes;
    if (outcome === undefined) return this.#link('outcome', null, 1, 'it has no result yet');
    const { event } = outcome;
    const said = await resultText(this.content, event);
    const text = said === '' ? '' : `: ${quoted(said, TEXT_UNITS)}`;
    return this.#link('outcome', event.event_seq, 1, `it ${outcomeWords(event)} (${at(event.event_seq)})${text}`);
  }

  async #decisionLinks(called: Cursor): Promise<WhyLink[]> {
    const { decision, asked, rule } = this.#causes;
    if (decision !== undefined) {
      const { event, always } = decision;
      const by = actedWords(event.by ?? 'nobody', event.actor);
      const words = `${event.how} by ${by}${always ? ', and always from then on' : ''} (${at(event.event_seq)})`;
      const reason =
        event.ref === undefined ? '' : `: ${quoted(await reasonText(this.content, event.ref), TEXT_UNITS)}`;
      return [this.#link('decision', event.event_seq, 1, `${words}${reason}`)];
    }
    if (asked !== undefined) return [this.#link('decision', null, 1, 'it waits for a person')];
    if (rule === undefined || !('effect' in rule.rule)) return [];
    const { effect, decision: decided } = rule.rule;
    const why =
      decided === 'require_approval'
        ? 'nobody was asked: an approval of such calls was remembered'
        : `nobody was asked: rule ${rule.index} of the policy says ${decided} for ${effect}`;
    return [this.#link('decision', called, 1, why)];
  }

  async #answerLinks(): Promise<WhyLink[]> {
    const { answer, call } = this.#causes;
    if (answer === undefined) return [];
    const text = (await answerText(this.content, answer.ref)) ?? '(erased)';
    const where = `run ${runOf(answer)}, step ${stepOf(answer)}, ${at(answer.event_seq)}`;
    const lead = call === undefined ? 'the model answered' : 'because the model answered';
    const said = text === '' ? ' with calls and no text' : `: ${quoted(text, TEXT_UNITS)}`;
    return [this.#link('answer', answer.event_seq, 0, `${lead} (${where})${said}`)];
  }

  async #readLinks(): Promise<WhyLink[]> {
    const { shown, before } = this.#causes.read;
    if (shown.length === 0) return [];
    const links = [this.#link('read', null, 1, 'after it had read')];
    if (before > 0) links.push(this.#link('read', null, 2, `${amount(before, 'earlier result')} of this run`));
    for (const { event, call } of shown) {
      const args = call === undefined ? '' : ` ${bounded(await argsText(this.content, call.ref), READ_ARGS_UNITS)}`;
      const said = await resultText(this.content, event);
      const result = said === '' ? outcomeWords(event) : quoted(said, READ_UNITS);
      links.push(this.#link('read', event.event_seq, 2, `${event.tool}${args} (${at(event.event_seq)}): ${result}`));
    }
    return links;
  }

  async #messageLinks(): Promise<WhyLink[]> {
    const { shown, before } = this.#causes.messages;
    const links: WhyLink[] = [];
    for (const [n, { sent, place }] of shown.entries()) {
      if (n === 1 && before > 0)
        links.push(this.#link('message', null, 0, `and to ${amount(before, 'further message')}`));
      const text = quoted(await messageText(this.content, sent.parts), TEXT_UNITS);
      links.push(this.#link('message', place, 0, `${this.#lead(n)} ${sentBy(sent)} (${at(place)}): ${text}`));
    }
    const earlier = this.trail.target.run ?? 0;
    if (earlier === 0) return links;
    const words = `the session had ${amount(earlier, 'earlier run')}, whose conversation the model is shown as well`;
    return [...links, this.#link('earlier', null, 1, words)];
  }

  #lead(n: number): string {
    if (this.trail.target.place !== undefined) return 'this is a message of';
    return n === 0 ? 'in answer to' : 'and to what was said meanwhile by';
  }

  #parentLinks(): WhyLink[] {
    const { cause } = this.#causes;
    if (cause?.kind !== 'parent') return [];
    const words = `session ${this.trail.target.session} was given that message by a call of session ${cause.session}:`;
    return [this.#link('parent', null, 0, words)];
  }

  #link(link: WhyLink['link'], place: Cursor | null, depth: number, words: string): WhyLink {
    return { link, place, session: this.trail.target.session, depth, words };
  }
}

function at(place: Cursor): string {
  return `at ${place}`;
}

function outcomeWords(event: Settled): string {
  if (event.type === 'tool.completed') return 'returned';
  if (event.non_execution !== undefined) return nonExecutionWords(event.non_execution);
  return `failed${event.code === null ? '' : `: ${event.code}`}`;
}

async function reasonText(content: ContentReader, ref: Ref): Promise<string> {
  return (await textAt(content, ref)) ?? '(erased)';
}

async function resultText(content: ContentReader, { ref }: Settled): Promise<string> {
  return ref === undefined ? '' : ((await textAt(content, ref)) ?? '(erased)');
}
