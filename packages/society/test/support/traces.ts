/** Marks in hot contexts, and where in a store they still stand. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Store } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { type AgentWorld, memory } from 'reprise';
import type { Entity } from 'reprise/society';

/** What is written to a hot context: over, in fields that no archive shows, in one that it shows, and too late. */
export const WRITTEN = ['over', 'ephemeral', 'context', 'goal', 'stale'] as const;

type Written = (typeof WRITTEN)[number];

/** A text that stands nowhere else. */
export function mark({ id }: Pick<Entity, 'id'>, what: Written): string {
  return `<${id}:${what}>`;
}

/** All marks of an agent. */
export function marksOf(agent: Entity): string[] {
  return WRITTEN.map((what) => mark(agent, what));
}

/** Writes a mark of each kind to the hot context of an agent. */
export async function writeMarks(agent: Entity): Promise<void> {
  await agent.writeL1({ ephemeral: { mark: mark(agent, 'over') } }, 1);
  const task = { goal: mark(agent, 'goal'), context: [mark(agent, 'context')] };
  await agent.writeL1({ ephemeral: { mark: mark(agent, 'ephemeral') }, agent: { task } }, 2);
  await agent.writeL1({ ephemeral: { mark: mark(agent, 'stale') } }, 2).catch(() => undefined);
}

/** The stores that are searched, each with its files. */
export const STORES: readonly (readonly [where: string, openIn: (dir: string) => Store])[] = [
  ['a world in memory', () => memory()],
  ['a world in a file', (dir) => sqlite(join(dir, 'w.db'))],
];

/** The marks in the content of a world, in its frames, and in the files of a folder. */
export async function marksIn({ kernel }: AgentWorld, dir: string): Promise<string[]> {
  const texts: string[] = [bytesIn(dir).toString('latin1')];
  for await (const ref of kernel.content.list()) {
    const bytes = await kernel.content.get(ref);
    if (bytes !== undefined) texts.push(Buffer.from(bytes).toString('latin1'));
  }
  for await (const frame of kernel.frames()) {
    texts.push(JSON.stringify(frame));
    if (frame.seq === kernel.head.seq) break;
  }
  return [...new Set(texts.flatMap((text) => text.match(MARK) ?? []))].sort();
}

const MARK = new RegExp(`<[0-9a-f]{64}:(?:${WRITTEN.join('|')})>`, 'g');

/** Read by another process: this one would drop SQLite's locks. */
function bytesIn(dir: string): Buffer {
  return execFileSync('find', [dir, '-type', 'f', '-exec', 'cat', '{}', '+'], { maxBuffer: 1 << 28 });
}
