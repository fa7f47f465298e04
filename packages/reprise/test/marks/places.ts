/** The places at which words of other parties enter a prompt, each with the real code that puts them there. */
import { putText, type ToolEntry, type TranscriptItem } from '@reprise/agent';
import { type Ref, startOfText } from '@reprise/contracts';
import { type ContentStore, putValue } from '@reprise/kernel';
import { type ComposedItem, composeText } from '@reprise/org';
import { told, toldItem } from '@reprise/org/contracts';
import { showItems } from '../../../org/src/handle/texts.js';
import { memberPreparer } from '../../../society/src/adapters/member.js';
import { coordinatorContext } from '../../../specialists/src/prompts/coordinator.js';
import { specialistInstructions, taskText } from '../../../specialists/src/prompts/specialist.js';
import { entryOf } from '../../../tools/src/mcp/entry/entry.js';

/** What a place is given: words of two parties, and a name that one of them chose. */
export interface Forged {
  readonly one: string;
  readonly two: string;
  readonly name: string;
}

/** A tool as a model is shown it. */
type ShownTool = Pick<ToolEntry, 'name' | 'description' | 'schema'>;

/** A prompt, and the words that each party has in it: by the beginning of its name; `null` for the message's own. */
export interface Shown {
  readonly items?: readonly TranscriptItem[];
  readonly system?: string;
  /** The summary of the conversation before the items. */
  readonly base?: Ref;
  readonly tools?: readonly ShownTool[];
  readonly said: readonly (readonly [by: string | null, words: string])[];
}

type Place = (forged: Forged, content: ContentStore) => Promise<Shown>;

const by = { profile: 'p', model: 'm' };

async function call(content: ContentStore): Promise<TranscriptItem> {
  const output_ref = await putValue(content, { text: '', tool_calls: [] });
  return { role: 'assistant', output_ref, by, calls: [{ call_id: 'c1', tool: 'pay', args_ref: output_ref }] };
}

type ToolItem = TranscriptItem & { readonly role: 'tool' };

async function result(content: ContentStore, over: Partial<ToolItem>): Promise<TranscriptItem[]> {
  return [await call(content), { role: 'tool', call_id: 'c1', tool: 'pay', is_error: false, ...over }];
}

type UserItem = TranscriptItem & { readonly role: 'user' };

function message(parts: UserItem['parts'], origin: UserItem['origin'] = 'input'): TranscriptItem {
  return { role: 'user', origin, parts };
}

/** A text that a part of the world has composed, as the message of a user. */
async function composed(content: ContentStore, text: string): Promise<TranscriptItem[]> {
  return [message([{ kind: 'text', text_ref: await putText(content, text) }])];
}

const data = (label: string, ref: Ref, over: Partial<ComposedItem> = {}): ComposedItem => {
  return { label, ref, kind: 'text', view: 'full', ...over };
};

const NOTHING = { skills: [], hints: [], narrative: [] };
const STATE = { status: 'idle', counts: {}, jobs: 0, unprocessed: 0 } as unknown as Parameters<
  typeof coordinatorContext
>[0]['state'];

export const PLACES: Readonly<Record<string, Place>> = {
  'results of children': async ({ one, two, name }, content) => {
    const child = async (id: string, agent: string, text: string) => {
      return { child: id, agent, status: 'Completed' as const, output_ref: await putText(content, text) };
    };
    const children = [await child('c1', name, one), await child('c2', 'reviewer', two)];
    return {
      items: await result(content, { children: children as never }),
      said: [
        ['agent c1, Completed: ', one],
        ['agent c2, Completed: reviewer', two],
      ],
    };
  },
  'children without words': async ({ name }, content) => {
    const child = { child: 'c1', agent: name, status: 'Failed' as const, code: 'limit/steps' };
    return { items: await result(content, { children: [child] as never }), said: [] };
  },
  'calls beyond those that one answer may make': async ({ name }, content) => {
    const answer = { ...(await call(content)), dropped_calls: { count: 2, tools: [name, 'pay'] } };
    return { items: [answer as TranscriptItem], said: [] };
  },
  'a summary of the conversation': async ({ one, two }, content) => ({
    base: await putValue(content, { text: one, tool_calls: [] }),
    items: await composed(content, taskText({ title: '', task: two, note: null, context: '' })),
    said: [
      ['summary of the conversation before this point', one],
      ['your task', two],
    ],
  }),
  'goals and tasks of a swarm': async ({ one, two }, content) => {
    const adopted = { def_ref: await putText(content, ''), config: { limits: {} } };
    const host = {
      content,
      models: ['m'],
      agent: async () => ({ model: 'm', tools: [] }),
      adopt: async () => ({ adopted, agents: [] }),
    };
    const [goal_ref, task_ref] = [await putText(content, one), await putText(content, two)];
    const joined = await composeText(content, [{ title: 'Results', items: [data('scout 0', goal_ref)] }], 100_000);
    const details = {
      ...{ swarm: 's', slot: 'scout', index: 0, role: 'worker', strategy: 'hierarchical', agent: 'scout' },
      ...{ goal_ref, task_ref, budget: null, input: { kind: 'text', ref: await putText(content, joined) } },
    };
    const { message_parts } = await memberPreparer.prepare({ details } as never, host as never);
    return {
      items: [message(message_parts)],
      said: [
        ['goal of the swarm', one],
        ['your task', two],
        ['scout 0', one],
      ],
    };
  },
  'the output of the agent before in a swarm': async ({ one, two }, content) => ({
    items: [
      message([
        { kind: 'result', child: 'the agent before you', output_ref: await putText(content, one), view: 'full' },
      ]),
      message([{ kind: 'text', text_ref: await putText(content, two) }], 'parent'),
    ],
    said: [
      ['result of agent: the agent before you', one],
      ['parent', two],
    ],
  }),
  'tools of a server': async ({ one, two, name }, content) => {
    const inputSchema = {
      type: 'object' as const,
      title: name,
      description: two,
      properties: { to: { type: 'string', description: one }, description: { type: 'array', items: { title: two } } },
    };
    const terms = { toolset: 'bank', trust: false, timeoutMs: undefined, onUnknown: undefined };
    const entry = await entryOf({ name: 'pay', description: one, inputSchema } as never, terms as never, content);
    return { tools: typeof entry === 'string' ? [] : [entry], said: [] };
  },
  'the answer of an owner': async ({ one, two, name }, content) => {
    const refs = [
      { label: startOfText(name, 60), ref: await putText(content, one) },
      { label: 'two', ref: await putText(content, two) },
    ];
    return {
      items: await result(content, { answer: { value: { title: name }, refs } }),
      said: [
        [null, JSON.stringify({ title: name })],
        ['content of the answer: ', one],
        ['content of the answer: two', two],
      ],
    };
  },
  'a result with a note of a person, changed arguments and files': async ({ one, two, name }, content) => {
    const files = [{ path: name, media_type: 'text/plain', bytes: 3, blob_ref: await putText(content, 'abc') }];
    return {
      items: await result(content, {
        output_ref: await putText(content, one),
        note_ref: await putText(content, two),
        edited_args_ref: await putValue(content, { a: two }),
        files: files as never,
      }),
      said: [
        ['arguments', JSON.stringify({ a: two })],
        ['note on the decision', two],
        [null, one],
      ],
    };
  },
  'an error of a tool': async ({ one }, content) => {
    const words = `The tool pay failed: ${one}`;
    const non_execution = { kind: 'failed' as const, code: 'adapter_error/handler' };
    const items = await result(content, {
      output_ref: await putText(content, words),
      non_execution: non_execution as never,
      is_error: true,
    });
    return { items, said: [[null, words]] };
  },
  'a late result': async ({ one, two }, content) => {
    const late = { role: 'late' as const, call_id: 'c1', tool: 'pay', status: 'ok' as const };
    return {
      items: [
        ...(await result(content, { non_execution: { kind: 'outcome_unknown' } })),
        { ...late, output_ref: await putText(content, one) },
        { ...late, output_ref: await putText(content, two) },
      ],
      said: [
        ['late result of c1, tool: pay', one],
        ['late result of c1, tool: pay', two],
      ],
    };
  },
  'a result without its call': async ({ one }, content) => ({
    items: [{ role: 'tool', call_id: 'c9', tool: 'pay', is_error: false, output_ref: await putText(content, one) }],
    said: [['earlier call c9 of tool: pay', one]],
  }),
  'results that are passed on': async ({ one, two, name }, content) => ({
    items: [
      message([
        {
          kind: 'result',
          child: startOfText(name, 100),
          output_ref: await putText(content, one),
          view: 'full',
        },
        { kind: 'result', child: 'agent_result:2', output_ref: await putText(content, two), view: 'full' },
      ]),
    ],
    said: [
      ['result of agent: ', one],
      ['result of agent: agent_result:2', two],
    ],
  }),
  'files and items of members': async ({ one, two, name }, content) => ({
    items: [
      message([
        { kind: 'blob', blob_ref: await putText(content, one), view: 'full', media_type: 'text/plain', name },
        {
          kind: 'blob',
          blob_ref: await putText(content, two),
          view: 'full',
          media_type: 'text/plain',
          name: 'crew#8 by ann',
        },
        { kind: 'blob', blob_ref: await putText(content, two), view: 'full', media_type: 'image/png', name },
      ]),
    ],
    said: [
      ['file of type text/plain: ', one],
      ['file of type text/plain: crew#8 by ann', two],
    ],
  }),
  'words of the agent above': async ({ one }, content) => ({
    items: [message([{ kind: 'text', text_ref: await putText(content, one) }], 'parent')],
    said: [['parent', one]],
  }),
  'notices with words of a model in them': async ({ one, two }, content) => ({
    items: [
      message([{ kind: 'text', text_ref: await putText(content, one) }], 'repair'),
      message([{ kind: 'text', text_ref: await putText(content, two) }], 'loop'),
    ],
    said: [
      ['runtime', one],
      ['runtime', two],
    ],
  }),
  'composed texts': async ({ one, two, name }, content) => {
    const label = told`#2 complete: ${name}`;
    const items = [
      toldItem(told`#1 "${name}" <- your task`),
      data(label.words, await putText(content, one), { names: label.names }),
      data('#3 complete: b', await putText(content, two)),
    ];
    return {
      items: await composed(content, await composeText(content, [{ title: 'Results', items }], 100_000)),
      said: [
        ['#2 complete: ', one],
        ['#3 complete: b', two],
      ],
    };
  },
  'briefs of nodes': async ({ one, two }, content) => {
    const items = [
      data('your task', await putText(content, one), { own: 'brief' }),
      data('told by: ann', await putText(content, two), { own: 'brief' }),
    ];
    return {
      items: await composed(content, await composeText(content, [{ title: 'Your task', items }], 100_000)),
      said: [
        ['your task', one],
        ['told by: ann', two],
      ],
    };
  },
  memories: async ({ one, two }, content) => {
    const text = showItems([
      { id: 1, text: one, about: ', score 0' },
      { id: 2, text: two, about: '' },
    ]);
    return {
      items: await composed(content, text),
      said: [
        ['memory 1, score 0', one],
        ['memory 2', two],
      ],
    };
  },
  skills: async ({ one, name }) => ({
    system: specialistInstructions({ name, body: one }),
    said: [['skill: ', one.trim()]],
  }),
  'tasks of a team': async ({ one, two, name }, content) => ({
    items: await composed(content, taskText({ title: name, task: one, note: two, context: `c ${two}` })),
    said: [
      ['your task', one],
      ['note on this try', two],
      ['context of your task', `c ${two}`],
    ],
  }),
  'the context of a coordinator': async ({ one, two, name }) => ({
    system: coordinatorContext({
      ...NOTHING,
      skills: [{ name: 'reader', description: name }],
      narrative: [
        { n: 1, text: one },
        { n: 2, text: two },
      ],
      state: STATE,
    }),
    said: [
      ['narrative 1', one],
      ['narrative 2', two],
    ],
  }),
};
