/**
 * The ten questions of an operator on six worlds, by the command and by the page: each has its answer, or is told in words that
 * the world has none. With `QUESTIONS_TABLE=1` the table is printed, with the time of each answer and the interactions.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../../cli/test/run.js';
import { describeInBrowser, type Shown, settled, show, startBrowser } from './browser.js';
import { type ExampleName, makeExamples } from './example-worlds.js';
import { freshFolder } from './worlds.js';

/** What is typed or pressed on the page: a key, or a text behind `type `. */
type Keys = readonly string[];

/** One question to one world. */
interface Asked {
  readonly verb: string;
  readonly says: RegExp;
  readonly keys: Keys;
  /** What the page shows then, in its detail or on its screen. */
  readonly shows: RegExp;
}

const EDIT: Readonly<Record<ExampleName, string>> = {
  sample: 'SURVEY.md',
  coder: 'src/cart.js',
  tree: 'call_1_1',
  team: 'call_3_1',
  swarm: 'src/cart.js',
  chat: 'call_2_1',
};
const found = (world: ExampleName): Keys => ['/', `type ${EDIT[world]}`, 'Enter'];
const NOTHING = /nothing in this world matches|Nothing has these words/;
const NO_STORE = /no item in 0 stores|Nothing was kept up to this frame/;

/** The questions, each with what its answer says in every world. */
const QUESTIONS: Readonly<Record<string, (world: ExampleName) => Asked>> = {
  'why was this edited': (world) => ({
    verb: `why WORLD ${EDIT[world]}`,
    keys: found(world),
    ...both(
      {
        sample: /because the model answered|the words of the model|MODEL/i,
        coder: /One of the tests fails\. Fix it\./,
        tree: /I change it\./,
        team: /I change it\./,
        swarm: NOTHING,
        chat: /I book it if you agree/,
      }[world],
    ),
  }),
  'who approved it': (world) => ({
    verb: `why WORLD ${EDIT[world]}`,
    keys: found(world),
    ...both(
      {
        sample: /rule 1 of the policy/,
        coder: /coding-agent --print/,
        tree: /approved by ann|ann approves/i,
        team: /approved by ann|ann approves/i,
        swarm: NOTHING,
        chat: /approved by guest|guest approves/i,
      }[world],
    ),
  }),
  'what did it cost, by agent and day': (world) => ({
    verb: 'cost WORLD --by agent,day',
    keys: ['5'],
    ...both(
      {
        sample: /surveyor\b.*6 of 6 model calls state no price/s,
        coder: /coder\b.*7 of 7 model calls state no price/s,
        tree: /builder\b.*\$?0\.0050/s,
        team: /clerk\b.*\$?0\.0075/s,
        swarm: /reader 0 of hard\b.*2 of 2 model calls state no price/s,
        chat: /waiter\b/,
      }[world],
    ),
  }),
  'what was the model sent': () => ({ verb: 'prompt WORLD last', keys: ['p'], ...both(/same digest as recorded/) }),
  'what changed from frame 2 to 5': () => ({
    verb: 'diff WORLD 2 5',
    keys: ['/', 'type 2..5', 'Enter'],
    ...both(/from frame 2 to frame 5/i),
  }),
  'who wrote this memory, from what': (world) => ({
    verb: 'memory WORLD',
    keys: ['m'],
    ...both(
      {
        ...ALL(NO_STORE),
        team: /no item in 1 store|Nothing was kept/,
        swarm: /README\.md:9001.*cleo|cleo.*README\.md:9001/s,
      }[world],
    ),
  }),
  'who could read it at frame 12': (world) => ({
    verb: world === 'swarm' ? 'readers WORLD group:crew --at 12' : 'readers WORLD project:party --at 7',
    keys: world === 'swarm' ? ['/', 'type group:crew#2', 'Enter'] : ['m'],
    ...both(
      {
        ...ALL(/nobody keeps anything there|Nothing was kept up to this frame/),
        team: /may read it|Nothing was kept up to this frame/,
        swarm: /ann.*a member of the group/s,
      }[world],
    ),
  }),
  'what waits on people': (world) => ({
    verb: 'waiting WORLD',
    keys: [],
    ...both(
      {
        ...ALL(/nothing waits for (?:people|a person)/i),
        tree: /Keep the old parser\?.*reprise tree answer upgrade\/2/s,
        team: /menu\.md.*world\.decide/s,
        chat: /21:00.*world\.decide/s,
      }[world],
    ),
  }),
  'did anything run twice': () => ({
    verb: 'trouble WORLD --all',
    keys: ['6'],
    ...both(/nothing may have run twice/),
  }),
  'what if it had been denied': (world) => ({
    verb: `fork WORLD --deny ${EDIT[world]}`,
    keys: found(world),
    ...both(
      {
        ...ALL(/reprise fork|no effect begins with this/),
        swarm: /no effect begins with this|Nothing has these words/,
      }[world],
    ),
  }),
};

function ALL(words: RegExp): Readonly<Record<ExampleName, RegExp>> {
  return { sample: words, coder: words, tree: words, team: words, swarm: words, chat: words };
}

function both(words: RegExp): Pick<Asked, 'says' | 'shows'> {
  return { says: words, shows: words };
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

describeInBrowser('the ten questions on six worlds', () => {
  const cases = Object.keys(QUESTIONS).flatMap((question) => WORLDS.map((world) => [question, world] as const));
  it.each(cases)(
    'given the question "%s", the command and the page have an answer for the world "%s", or say that it has none',
    async (question, world) => {
      const { verb, says, keys, shows } = QUESTIONS[question]!(world);
      const words = verb.split(' ').map((word) => (word === 'WORLD' ? files[world] : word));
      const began = performance.now();
      const { out, err } = await run(...words);
      const verbMs = performance.now() - began;
      expect.soft(`${out}${err}`.replace(/\s+/g, ' ')).toMatch(says);

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
      await expect.poll(text).toMatch(shows);
      const pageMs = performance.now() - opened;
      table.push(
        `| ${question} | ${world} | \`reprise ${verb}\` | ${verbMs.toFixed(0)} ms | ${keys.length} | ${pageMs.toFixed(0)} ms |`,
      );
      await page.context().close();
    },
  );
});
