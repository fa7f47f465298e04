/**
 * What happens to calls that wait while the app is deployed, from the rules alone. It shares no code with the library:
 * versions are compared by their fields, arguments by a table.
 *
 * - A call runs when its meaning equals the build's, or when the kind of approval and the guarantee are equal and the
 *   arguments parse to what the recorded schema gives. A rule is asked again about a call that a person approved, and
 *   about one whose meaning differs.
 * - Else it is asked about again: the decider where the rule still names that person, else whom the rule names. What
 *   never needed an approval and nobody decided is told to the model.
 * - A decision about a wait whose meaning differs names the digest of both versions, or does nothing.
 * - What runs no code of a tool when it is settled stays valid: deferred calls, questions, owners' calls, timers.
 * - A remembered approval covers the same meaning and the same words, whomever a rule names.
 */
import type { Approving, Build, Case, PayVersion, Shape, Wait } from './cases.js';

/** What a schema makes of `{ n }`; null when it does not take it. `recorded`: by what the JSON Schema says. */
function parsed(shape: Shape, n: number, recorded: boolean): string | null {
  if (shape === 'narrow') return n > 5 ? null : JSON.stringify({ n });
  if (shape === 'account') return null;
  if (shape === 'default') return JSON.stringify({ currency: 'eur', n });
  if (shape === 'scaled' && !recorded) return JSON.stringify({ n: n * 100 });
  return JSON.stringify({ n });
}

const kindOf = (approval: Approving): 'never' | 'always' | 'rule' =>
  approval === 'never' || approval === 'always' ? approval : 'rule';

/** What a tool says about an approval of these arguments: null for none, else whom it names, if anybody. */
function asksFor({ approval }: PayVersion, n: number): { readonly to?: string } | null {
  if (approval === 'never' || approval === 'free') return null;
  if (approval === 'large') return n > 5 ? {} : null;
  return approval === 'always' ? {} : { to: `human:${approval}` };
}

function sameMeaning(a: PayVersion, b: PayVersion): boolean {
  return a.shape === b.shape && a.guarantee === b.guarantee && kindOf(a.approval) === kindOf(b.approval);
}

function sameWords(a: PayVersion, b: PayVersion): boolean {
  return a.description === b.description && a.label === b.label;
}

/** A call of `pay`, as it stands. */
interface Call {
  readonly judged: PayVersion;
  /** The version that it was decided on before, when it is asked about again. */
  readonly before?: PayVersion;
  /** Whom the rule named. */
  readonly named?: string;
  readonly by?: string;
}

/** A person has to decide, or it is over with what the model reads. */
type Next = Waiting | { readonly read: string };

interface Waiting {
  readonly waits: Call;
  readonly to: string;
}

const ANYBODY = 'human:*';

/** A call is made in a build. */
function made({ pay, policy }: Build, n: number, covered: boolean): Next | 'runs' {
  if (pay === null) return { read: 'not found' };
  if (parsed(pay.shape, n, false) === null) return { read: 'invalid' };
  const asked = asksFor(pay, n);
  if ((asked === null && policy === 'allow') || covered) return 'runs';
  return { waits: { judged: pay, ...(asked?.to === undefined ? {} : { named: asked.to }) }, to: asked?.to ?? ANYBODY };
}

/** A call that may be executed meets a build. */
function meets(call: Call, { pay: now }: Build, n: number): Next {
  if (now === null) return { read: 'not found' };
  const { judged, by, named } = call;
  const same = sameMeaning(judged, now);
  const value = parsed(now.shape, n, false);
  const alike =
    kindOf(judged.approval) === kindOf(now.approval) &&
    judged.guarantee === now.guarantee &&
    value !== null &&
    value === parsed(judged.shape, n, true);
  const runs = same || alike;
  const isAsked = kindOf(now.approval) === 'rule' && value !== null && (by !== undefined || !same);
  const asked = isAsked ? asksFor(now, n) : null;
  const isMeant = asked?.to === undefined || asked.to === by || (asked.to === named && runs);
  if (runs && (asked === null || (by !== undefined && isMeant))) return { read: `paid ${value}` };
  const never = judged.approval === 'never' && now.approval === 'never';
  if (never && by === undefined) return { read: 'changed' };
  const to = by !== undefined && (asked?.to === undefined || asked.to === by || asked.to === named) ? by : asked?.to;
  const whom = to ?? named;
  const again = { judged: now, before: judged, ...(whom === undefined ? {} : { named: whom }) };
  return { waits: again, to: whom ?? ANYBODY };
}

/** Who decides, of those that may. */
export const deciderOf = (to: string): string => (to === ANYBODY ? 'human:ann' : to);

/** What is seen in one session, in order. */
export type Seen = string[];

/** What a case shows, by session. */
export function expected(one: Case): Readonly<Record<string, Seen>> {
  return Object.fromEntries(one.waits.map((wait) => [wait, SESSIONS[wait](one)]));
}

const SESSIONS: Readonly<Record<Wait, (one: Case) => Seen>> = {
  waiting,
  flying,
  standing,
  deferred: () => ['settled: applied', 'read: arrived'],
  // What a question takes is a part of it: another one is asked, and the answer to that one counts.
  asking: ({ builds: [first, second] }) => [
    ...(first?.answers === second?.answers ? [] : ['asked again']),
    'answered: applied',
    'read: yes',
  ],
  question: () => ['answered: applied', 'read: yes'],
  // The calls of a session wait by the same rules, however it is led.
  child: waiting,
  node: waiting,
  // A question of a node to people, and a session that waits for input, run no code of a tool.
  asker: () => ['answered: applied', 'read: yes'],
  listening,
};

/** The hours that a process lives before it looks at the session that listens. */
export const HOURS_EACH = 5;

/** A session that waits for another message, until its time is over: by the clock, and by what it began with. */
function listening({ builds: [first, ...later] }: Case): Seen {
  return later.map((_, i) => ((i + 1) * HOURS_EACH >= (first?.hours ?? 0) ? 'ended' : 'listens'));
}

function waiting(one: Case): Seen {
  const seen: Seen = [];
  const [first, ...later] = one.builds;
  const at = first === undefined ? 'runs' : made(first, one.n, false);
  if (at === 'runs') return [`read: paid ${parsed(first?.pay?.shape ?? 'plain', one.n, false)}`];
  let next: Next = at;
  for (const [i, build] of later.entries()) {
    const isDue = i + 1 >= one.decidedIn;
    if (!isDue && 'waits' in next) seen.push(listed(next, build));
    if (isDue) next = decided(next, build, one.n, seen, one.mode);
  }
  return seen;
}

function flying(one: Case): Seen {
  const seen: Seen = [];
  const [first, second] = one.builds;
  if (first === undefined || second === undefined || first.pay === null) return seen;
  const at = made(first, one.n, false);
  let call: Call = { judged: first.pay };
  if (at !== 'runs' && 'waits' in at) {
    seen.push('approved: applied');
    call = { ...at.waits, by: deciderOf(at.to) };
  }
  let next = meets(call, second, one.n);
  if ('read' in next) seen.push(`read: ${next.read}`);
  for (const build of one.builds.slice(1)) next = decided(next, build, one.n, seen, 'listed');
  return seen;
}

function standing(one: Case): Seen {
  const seen: Seen = [];
  let remembered: PayVersion | undefined;
  for (const [i, build] of one.builds.entries()) {
    const { pay } = build;
    const covered =
      pay !== null && remembered !== undefined && sameMeaning(remembered, pay) && sameWords(remembered, pay);
    const next = made(build, one.n, covered);
    if (next === 'runs') seen.push(`read: paid ${parsed(pay?.shape ?? 'plain', one.n, false)}`);
    else if ('read' in next) seen.push(`read: ${next.read}`);
    else {
      if (i === 0) remembered = next.waits.judged;
      decided(next, build, one.n, seen, i === 0 ? 'remember' : 'listed');
    }
  }
  return seen;
}

function isChanged({ judged, before }: Call, { pay }: Build): boolean {
  return pay !== null && (before !== undefined || !sameMeaning(judged, pay));
}

function listed({ waits, to }: Waiting, build: Build): string {
  return `waits for ${to}${isChanged(waits, build) ? ', changed' : ''}`;
}

/** A person decides in a build until nothing waits in it, or nothing can be done but to deny. */
function decided(at: Next, build: Build, n: number, seen: Seen, first: Case['mode']): Next {
  let next = at;
  for (let mode = first; 'waits' in next; mode = 'listed') {
    seen.push(listed(next, build));
    const { waits: call, to } = next;
    const { pay } = build;
    const changed = isChanged(call, build);
    const isWhole = mode === 'listed' || mode === 'deny' || mode === 'remember';
    const words = mode === 'remember' && pay !== null && !sameWords(call.judged, pay);
    if ((changed && !isWhole) || (!changed && words)) seen.push('changed');
    if (mode === 'deny') seen.push('denied: applied');
    else if (pay === null || parsed(pay.shape, n, false) === null) seen.push('refused', 'denied: applied');
    else {
      seen.push('approved: applied');
      const carried = changed || words ? pay : call.judged;
      const { named } = call;
      next = meets({ judged: carried, by: deciderOf(to), ...(named === undefined ? {} : { named }) }, build, n);
      // Who allowed this version for the session has allowed what the rule would ask another person about.
      if ('waits' in next && mode === 'remember') next = { read: `paid ${parsed(pay.shape, n, false)}` };
      if ('read' in next) seen.push(`read: ${next.read}`);
      continue;
    }
    seen.push('read: denied');
    next = { read: 'denied' };
  }
  return next;
}
