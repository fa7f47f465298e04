/** A review that the user leaves: its view stops before the world is closed, at whatever moment that is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AgentWorld, memory, openWorld } from 'reprise';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followed } from '../src/follow.js';
import { modelOf } from '../src/models.js';
import { PROJECT, reviewTeam } from '../src/team.js';
import { writeSample } from './sample.js';

let home = '';

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'reprise-follow-'));
  writeSample(home);
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Follows a review in this process, and leaves it when the view has read a number of frames. */
async function leftAfter(frames: number) {
  const team = reviewTeam(home, { max: 3 });
  const model = modelOf({ model: undefined, baseUrl: undefined, pace: 0, env: {} });
  const world = await openWorld({ store: memory(), models: { main: model }, parts: [team] });
  const left = new AbortController();
  const seen = { read: 0, reading: 0 };
  const watched = watchedBy(world, seen, () => void (seen.read === frames && left.abort()));
  if (frames === 0) left.abort();
  const lines: string[] = [];
  const out = { write: (text: string) => lines.push(text) } as unknown as NodeJS.WriteStream;
  const options = { folder: home, out, plain: true, signal: left.signal, noting: () => undefined };
  const isOver = await followed(watched, world.part(team).project(PROJECT), options);
  const { reading } = seen;
  const { length } = lines;
  await world.close();
  return { isOver, reading, linesAfter: lines.length - length };
}

/** A world that counts the readings of its frames which have not ended. */
function watchedBy(
  world: AgentWorld,
  seen: { read: number; reading: number },
  heard: () => void,
): Pick<AgentWorld, 'kernel'> {
  const { kernel } = world;
  const frames: typeof kernel.frames = async function* (...args) {
    seen.reading++;
    try {
      for await (const frame of kernel.frames(...args)) {
        seen.read++;
        heard();
        yield frame;
      }
    } finally {
      seen.reading--;
    }
  };
  return {
    kernel: new Proxy(kernel, { get: (target, name) => (name === 'frames' ? frames : Reflect.get(target, name)) }),
  };
}

describe('a review that the user leaves', () => {
  it.each([0, 1, 2, 7, 25, 60])(
    'the view reads nothing and prints nothing after the review was left, which was after frame %i of it',
    async (frames) => {
      expect(await leftAfter(frames)).toEqual({ isOver: false, reading: 0, linesAfter: 0 });
    },
  );

  it('a review that nobody leaves is over, and its view reads nothing either', async () => {
    expect(await leftAfter(-1)).toEqual({ isOver: true, reading: 0, linesAfter: 0 });
  });
});
