/** The embedded model: written rules in place of a neural network. It truly searches and reads the files. */
import { type ModelClient, type ScriptRequest, type ScriptStep, scriptBy } from 'reprise/providers';
import { GROUP } from './crew.js';

/** What a lead shares that does not wait for its readers: nothing of it is so. */
const BELIEFS = ['README.md:9001: There are no errors.', 'main.ts:9002: // Nobody needs to read this.'];
const FINDINGS_MAX = 3;
const FINDING = { type: 'finding', visibility: 'group' };
const LINE = /^([^\s:"]+):(\d+): ?(.*)$/gm;

/** Makes the model. @param pace how long an answer takes, in milliseconds */
export function rules(pace: number): ModelClient {
  const model = scriptBy((request) => {
    const step = nextStep(request);
    return pace === 0 ? step : { delayMs: pace, text: 'I look.', ...step };
  });
  return { ...model, profile: { ...model.profile, profile_id: 'rules', model_default: 'rules', provider: 'rules' } };
}

function nextStep(request: ScriptRequest): ScriptStep {
  const { system } = request;
  if (system.includes('You lead')) return lead(request, system.includes('You do not wait'));
  return system.includes('You check a finding') ? judge(request) : read(request);
}

/** Calls and their results, and the words that began this run. */
function sinceAsked({ messages }: ScriptRequest) {
  const last = (role: string) => messages.findLastIndex((one) => one.role === role);
  const asked = messages.findLastIndex(({ role, text }) => role === 'user' && /^(?:Lead the swarm|Judge )/.test(text));
  const since = messages.slice(Math.max(0, asked));
  const words =
    asked < 0 ? messages.filter(({ role }) => role === 'user').map(({ text }) => text) : [since[0]?.text ?? ''];
  return { words: words.join('\n'), done: since.filter(({ role }) => role === 'tool'), last: last('tool') };
}

function findingsIn(text: string): string[] {
  return [
    ...new Set(
      [...text.matchAll(LINE)].map(([, path, line, found = '']) => `${path}:${line}: ${found.trim().slice(0, 90)}`),
    ),
  ];
}

function lead(request: ScriptRequest, isHasty: boolean): ScriptStep {
  const { words, done } = sinceAsked(request);
  const swarm_id = /Lead the swarm ([^\s:]+)/.exec(words)?.[1] ?? '';
  const task = (args: object) => ({ tool: 'swarm_task', args: { swarm_id, ...args } });
  const delegated = [...words.matchAll(/^Delegate to (\S+): (.+)$/gm)];
  if (done.length < delegated.length)
    return {
      calls: delegated.map(([, slot, text]) =>
        task({ action: 'delegate', slot, task: isHasty ? `Read all. ${text}` : text }),
      ),
    };
  const n = done.length - delegated.length;
  if (isHasty) return n === 0 ? { calls: BELIEFS.map(share) } : { calls: [task({ action: 'collect' })] };
  if (n === 0) return { calls: [task({ action: 'collect' })] };
  const found = findingsIn(done[delegated.length]?.text ?? '').slice(0, FINDINGS_MAX);
  if (n === 1 && found.length > 0) return { calls: found.map(share) };
  if (n <= 1 + found.length)
    return { calls: [task({ action: 'finish', result: found.join('\n') || 'Nothing was found.' })] };
  return { text: `I shared ${found.length} findings.` };
}

function share(content: string) {
  return { tool: 'memory_write_warm', args: { ...FINDING, group: GROUP, content } };
}

/** Reads the place of a finding, and says whether the words stand there. */
function judge(request: ScriptRequest): ScriptStep {
  const { words, done } = sinceAsked(request);
  const item_id = /Judge (\S+)/.exec(words)?.[1] ?? '';
  const [, path = 'unknown', line = '1', quote = ''] = /^([^\s:"]+):(\d+): ?(.*)$/m.exec(words) ?? [];
  const [read, judged] = done;
  if (read === undefined)
    return { calls: [{ tool: 'read_file', args: { path, offset: Math.max(0, Number(line) - 1), limit: 1 } }] };
  const isThere = quote !== '' && read.isError !== true && read.text.includes(quote.trim());
  const verdict = isThere ? 'right' : 'wrong';
  if (judged === undefined)
    return { calls: [{ tool: 'memory_assess', args: { item_id, verdict, basis: 'cross_reference' } }] };
  return { text: verdict };
}

/** A reader searches for what its task names, or goes on from what it was given, and shares it with its swarm. */
function read(request: ScriptRequest): ScriptStep {
  const { words, done } = sinceAsked(request);
  if (words.includes('Read all.')) return { text: 'I read all.', delayMs: Number.POSITIVE_INFINITY };
  const [, pattern, name = '*'] = /grep `(.+)` in `(.+)`/.exec(words) ?? [];
  const [first] = done;
  if (pattern !== undefined && first === undefined)
    return { calls: [{ tool: 'grep', args: { pattern, name, regex: true, limit: 20 } }] };
  const found = findingsIn(pattern === undefined ? words : (first?.text ?? '')).slice(0, FINDINGS_MAX);
  const searches = pattern === undefined ? 0 : 1;
  // Its only group is that of its swarm: it needs no name.
  if (done.length === searches && found.length > 0)
    return { calls: found.map((content) => ({ tool: 'memory_write_warm', args: { ...FINDING, content } })) };
  return { text: found.join('\n') || 'Nothing.' };
}
