/** A research that the user leaves: whatever still reads the world when it is closed fails, and nothing is unhandled. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AgentWorld, memory, openWorld, RepriseError } from 'reprise';
import { fileVault, society } from 'reprise/society';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { crewOf } from '../src/crew.js';
import { rules } from '../src/rules.js';
import { told } from '../src/tell.js';

let home = '';

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'reprise-tell-'));
  mkdirSync(path.join(home, 'shop'));
  writeFileSync(path.join(home, 'shop/README.md'), '# Shop\n');
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A world in which each reading that has not ended by itself when the world is closed fails, as one may that was reading just then. */
function failingReadings(world: AgentWorld, heard: () => void): AgentWorld {
  const frames: AgentWorld['kernel']['frames'] = async function* (...args) {
    for await (const frame of world.kernel.frames(...args)) {
      heard();
      yield frame;
    }
    if (args[1]?.aborted !== true) throw new RepriseError('world_closed', 'the store was closed');
  };
  const kernel = new Proxy(world.kernel, {
    get: (target, name) => (name === 'frames' ? frames : ofTarget(target, name)),
  });
  return new Proxy(world, { get: (target, name) => (name === 'kernel' ? kernel : ofTarget(target, name)) });
}

/** A method keeps its object: it has private fields. */
function ofTarget(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === 'function' ? value.bind(target) : value;
}

/** Does a research, and leaves it when a number of frames was read. */
async function leftAfter(frames: number): Promise<{ code: number; unhandled: readonly unknown[]; lines: number }> {
  const unhandled: unknown[] = [];
  const hear = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', hear);
  let lines = 0;
  const said = vi.spyOn(console, 'log').mockImplementation(() => void lines++);
  const stopped = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  try {
    const file = path.join(home, 'w.db');
    const crew = crewOf(path.join(home, 'shop'));
    const part = society({ keys: fileVault(`${file}.keys`) });
    const model = rules(0);
    const options = { store: memory(), models: { main: model }, agents: Object.values(crew), parts: [part] };
    const world = await openWorld({ ...options, secrets: async () => 'x'.repeat(64) });
    const left = new AbortController();
    let read = 0;
    const watched = failingReadings(world, () => void (++read === frames && left.abort()));
    const code = await told(watched, world.part(part), crew, { file, stay: false, signal: left.signal });
    const before = lines;
    await world.close();
    await new Promise((resolve) => setTimeout(resolve, 50)); // what was left behind ends now
    return { code, unhandled, lines: lines - before };
  } finally {
    process.off('unhandledRejection', hear);
    said.mockRestore();
    stopped.mockRestore();
  }
}

describe('a research that the user leaves', () => {
  it.each([1, 2, 7, 25, 60])(
    'a research that was left after %i frames ends with 130, prints nothing more and leaves no rejection unhandled',
    async (frames) => {
      expect(await leftAfter(frames)).toEqual({ code: 130, unhandled: [], lines: 0 });
    },
  );
});
