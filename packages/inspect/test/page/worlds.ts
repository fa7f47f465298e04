/** Worlds for the page: with words that no other world has, so that a test sees what it has made. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentWorld, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { llmGenerateAdapter, type ScriptRequest, type ScriptStep, scriptBy, withPrice } from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import * as z from 'zod';

/** A folder that is removed after the tests. */
export function freshFolder(): { file: (name: string) => string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'reprise-page-'));
  return { file: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A word that stands in no other world. */
export function nonce(): string {
  return `n${Math.random().toString(36).slice(2, 10)}`;
}

/** What a world of one agent is made of. */
interface Making {
  readonly file: string;
  readonly answer: (request: ScriptRequest, n: number) => ScriptStep;
  /** What its tool returns. */
  readonly returns?: string;
  /** Whether a person has to allow each call. */
  readonly asks?: boolean;
  readonly name?: string;
}

/** Opens a world with one agent, `coder`, and its tool `write`. */
export async function openCoder({ file, answer, returns = 'written', asks = false, name = 'write' }: Making): Promise<{
  readonly world: AgentWorld;
  readonly say: (words: string, session?: string) => Promise<void>;
}> {
  const write = defineTool({
    name,
    description: 'Writes a file.',
    args: z.strictObject({ path: z.string(), text: z.string() }),
    ...(asks ? { approval: 'always' as const } : {}),
    run: () => returns,
  });
  const coder = defineAgent({ name: 'coder', model: 'main', instructions: 'You are a coding agent.', tools: [write] });
  let n = 0;
  const model = scriptBy((request) => ({ ...answer(request, n++), usage: { tokens_in: 1_000, tokens_out: 50 } }));
  const world = await openAgentWorld({
    ...{ store: sqlite(file), agents: [coder], models: { main: {} }, snapshotEvery: 16 },
    llm: (judge) => llmGenerateAdapter({ main: withPrice(model, { in: 2, out: 10 }) }, { judge }),
  });
  const say = async (words: string, session = 'main'): Promise<void> => {
    await world.session(session, coder).send(words);
    await world.pump();
  };
  return { world, say };
}

/** A conversation of four steps in which a person allows an edit of `src/cart.js`. */
export async function makeEdit(file: string, word: string): Promise<void> {
  const steps: readonly ScriptStep[] = [
    { text: `I read first. ${word}`, calls: [{ tool: 'write', args: { path: 'notes.md', text: 'read' } }] },
    { text: 'I see the mistake.', calls: [{ tool: 'write', args: { path: 'src/cart.js', text: `sum + ${word}` } }] },
    { text: 'Once more.', calls: [{ tool: 'write', args: { path: 'notes.md', text: 'done' } }] },
    { text: `All tests pass. ${word}` },
  ];
  const { world, say } = await openCoder({ file, asks: true, answer: (_, n) => steps[Math.min(n, 3)] ?? { text: '' } });
  await say(`One of the tests fails: ${word}`);
  for (let turn = 0; turn < 3; turn++) {
    for (const { id } of await world.pending()) await world.decide(id, { approve: true }, { as: 'human:ann' });
    await world.pump();
  }
  await world.close();
}
