/**
 * The ten questions of an operator on six worlds, by the command and by the page: each has its answer, or is told in words that
 * the world has none. With `QUESTIONS_TABLE=1` the table is printed, with the time of each answer and the interactions.
 */

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { spread } from '../../../../conformance/part.js';
import { run } from '../../../cli/test/run.js';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { type ExampleName, makeExamples } from './example-worlds.js';
import { freshFolder } from './worlds.js';

/** One question to one world: the command, what is done on the page, and what both say. A key is pressed, a text behind `type ` typed. */
interface Asked {
  readonly verb: string;
  readonly keys: readonly string[];
  readonly says: readonly RegExp[];
}

/** What each world has that an operator asks about: for the command, and for the search of the page. */
const EDIT: Readonly<Record<ExampleName, readonly [verb: string, page: string]>> = {
  sample: ['SURVEY.md', 'Wrote SURVEY.md'],
  coder: ['src/cart.js', 'src/cart.js'],
  tree: ['call_1_1', 'call_1_1'],
  team: ['call_3_1', 'call_3_1'],
  swarm: ['src/cart.js', 'src/cart.js'],
  chat: ['call_2_1', 'call_2_1'],
};
const onEdit = (world: ExampleName) => ({
  verb: `why WORLD ${EDIT[world][0]}`,
  keys: ['/', `type ${EDIT[world][1]}`, 'Enter'],
});

const ABSENT = /nothing in this world matches|Nothing has these words/;
const NOTHING_KEPT = /no item in \d stores?|Nothing was kept up to this frame/;
const UNPRICED = /\d of \d model calls state no price/;

/** The questions, with what is said about each world: its answer, or in words that it has none. */
const QUESTIONS: Readonly<Record<string, (world: ExampleName) => Asked>> = {
  'why was this edited': (world) => ({
    ...onEdit(world),
    says: {
      sample: [/Survey the folder and write the report/, /File README\.md/],
      coder: [/One of the tests fails\. Fix it\./, /`>=` is meant/],
      tree: [/You are node #1 in a coordination tree/, /I change it\./],
      team: [/I change it\./],
      swarm: [ABSENT],
      chat: [/A table for 4 at 20:00/, /I book it if you agree/],
    }[world],
  }),
  'who approved it': (world) => ({
    ...onEdit(world),
    says: {
      sample: [/nobody was asked/],
      coder: [/coding-agent --print/],
      tree: [/approved by ann|ann approves/i],
      team: [/approved by ann|ann approves/i],
      swarm: [ABSENT],
      chat: [/approved by guest|guest approves/i],
    }[world],
  }),
  'what did it cost, by agent and day': (world) => ({
    verb: 'cost WORLD --by agent,day',
    keys: ['5'],
    says: {
      sample: [/surveyor/, UNPRICED],
      coder: [/coder/, UNPRICED],
      tree: [/builder/, /0\.0050/],
      team: [/clerk/, /0\.0075/],
      swarm: [/reader 0 of hard/, UNPRICED],
      chat: [/waiter/, /0\.0000|\$0\.00/],
    }[world],
  }),
  'what was the model sent': () => ({ verb: 'prompt WORLD last', keys: ['p'], says: [/same digest as recorded/] }),
  'what changed from frame 2 to 5': () => ({
    verb: 'diff WORLD 2 5',
    keys: ['/', 'type 2..5', 'Enter'],
    says: [/from frame 2 to frame 5/i],
  }),
  'which agent wrote this memory, and from what': (world) => ({
    verb: 'memory WORLD',
    keys: ['m'],
    says: world === 'swarm' ? [/cleo/, /README\.md:9001: There are no errors/] : [NOTHING_KEPT],
  }),
  'who could read it at that time': (world) => ({
    verb: `readers WORLD ${world === 'team' ? 'project:party' : 'group:crew'} --at ${world === 'swarm' ? 30 : 7}`,
    keys: world === 'swarm' ? ['/', 'type group:crew#2', 'Enter'] : ['m'],
    says: {
      ...inAll([/nobody keeps anything there|Nothing was kept up to this frame/]),
      team: [/may read it: operator|Nothing was kept up to this frame/],
      swarm: [/ben:? a member of the group, as member/],
    }[world],
  }),
  'what waits on people': (world) => ({
    verb: 'waiting WORLD',
    keys: [],
    says: {
      ...inAll([/nothing waits for (?:people|a person)/i]),
      tree: [/Keep the old parser\?/, /reprise tree answer upgrade\/2/],
      team: [/menu\.md/, /world\.decide/],
      chat: [/21:00/, /world\.decide/],
    }[world],
  }),
  'did anything run twice': () => ({
    verb: 'trouble WORLD --all',
    keys: ['6'],
    says: [/nothing may have run twice/],
  }),
  'what would another answer have done': (world) => ({
    verb: 'fork WORLD --answer EFFECT=Another.',
    keys: onEdit(world).keys,
    says: [
      world === 'swarm'
        ? /effects? as in the original|Nothing has these words/
        : /effects? as in the original|reprise fork shown\.db --(?:answer|deny) [0-9a-f]{64}/,
    ],
  }),
};

function inAll(says: readonly RegExp[]): Readonly<Record<ExampleName, readonly RegExp[]>> {
  return { sample: says, coder: says, tree: says, team: says, swarm: says, chat: says };
}

const WORLDS: readonly ExampleName[] = ['sample', 'coder', 'tree', 'team', 'swarm', 'chat'];
const folder = freshFolder();
const table: string[] = [];
let browser: Browser;
let files: Readonly<Record<ExampleName, string>>;
const shown = new Map<ExampleName, Shown>();

beforeAll(async () => {
  files = await makeExamples(folder.file(''));
  browser = await startBrowser();
  for (const world of WORLDS) shown.set(world, await show(browser, files[world]));
});
afterAll(async () => {
  if (process.env.QUESTIONS_TABLE !== undefined) console.log(table.join('\n'));
  for (const world of shown.values()) await world.close();
  await browser?.close();
  folder.remove();
});

/** The newest call of a model: its effect stands in the report of the request. */
async function lastCall(file: string): Promise<string> {
  return JSON.parse((await run('prompt', file, 'last', '--json')).out).effect;
}

describeInBrowser('the ten questions on six worlds', () => {
  const cases = Object.keys(QUESTIONS).flatMap((question) => WORLDS.map((world) => [question, world] as const));
  // Every fifth: each question, and each of the six worlds twice.
  it.each(spread(5, cases))(
    'given the question "%s", the command and the page have an answer for the world "%s", or say that it has none',
    async (question, world) => {
      const { verb, says, keys } = QUESTIONS[question]!(world);
      const effect = verb.includes('EFFECT') ? await lastCall(files[world]) : '';
      const words = verb.split(' ').map((word) => (word === 'WORLD' ? files[world] : word.replace('EFFECT', effect)));
      const began = performance.now();
      const { out, err } = await run(...words);
      const verbMs = performance.now() - began;
      for (const one of says) expect(`${out}${err}`.replace(/\s+/g, ' ')).toMatch(one);

      expect(keys.length).toBeLessThanOrEqual(3);
      const page = await shown.get(world)!.page('/');
      await settled(page);
      const opened = performance.now();
      for (const key of keys) {
        if (key.startsWith('type ')) await page.keyboard.type(key.slice('type '.length));
        else await page.keyboard.press(key);
        await settled(page);
      }
      const text = async () => (await page.locator('body').innerText()).replace(/\s+/g, ' ');
      for (const one of says) await expect.poll(text).toMatch(one);
      const pageMs = performance.now() - opened;
      table.push(
        `| ${question} | ${world} | \`reprise ${verb}\` | ${verbMs.toFixed(0)} ms | ${keys.length} | ${pageMs.toFixed(0)} ms |`,
      );
      await page.context().close();
    },
  );
});
