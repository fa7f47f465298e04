/** A person at a terminal: a tree on the screen, questions answered by keys, leaving, going on, watching beside it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hasPty, openTerminal, type Tty } from '../../../../scripts/lib/terminal.js';
import { PROGRAM } from '../run.js';
import { freshFolder } from '../worlds.js';
import { makeSurvey } from './recorded.js';

const folder = freshFolder();
afterAll(() => folder.remove());
const ASK = 'Say what is here. Ask me which part matters.';
const [ENTER, DOWN, ESCAPE, CTRL_C] = ['\r', '\u001b[B', '\u001b', '\u0003'];

function openTty(cwd: string, args: readonly string[], columns = 100, rows = 24): Tty {
  return openTerminal(PROGRAM, args, { cwd, columns, rows, env: { XDG_STATE_HOME: folder.file('home') } });
}

let places = 0;

/** A working folder with a small shop in it. */
function workplace(): string {
  const at = folder.file(`shop-${places++}`);
  for (const [path, text] of Object.entries({
    'README.md': '# Shop\n\nSells tea by mail.\n',
    'src/price.js': '/** What an order costs, in cents. */\nexport function price() {}\n',
    'test/price.test.js': '// nothing is tested\n',
  })) {
    mkdirSync(join(at, path, '..'), { recursive: true });
    writeFileSync(join(at, path), text);
  }
  return at;
}

const run = (name: string) => ['tree', 'run', ASK, '--name', name, '--parallel', '1'];

describe.skipIf(!hasPty())('a tree on a terminal', () => {
  it('a question is answered by keys, and the tree ends with its report below the picture', async () => {
    const tty = openTty(workplace(), run('keys'));
    await tty.untilShown('#1 asks you: Which part shall I look at?');
    tty.send('a');
    await tty.untilShown('Answer #2: ⏎ sends, esc leaves it open');
    tty.send('7');
    tty.send(ENTER);
    await tty.untilShown('"7" is not one of the options');
    tty.send('\u007f2');
    tty.send(ENTER);
    expect(await tty.ended).toBe(0);
    expect(tty.out()).toContain('✓ #3 [complete] SPAWN Look at src');
    expect(tty.out()).toContain('# Say what is here.');
    expect(tty.out()).not.toContain('Look at test');
  });

  it('a person opens a node, tells it something, stops it, leaves with Ctrl-C, and goes on; another terminal watches and answers', async () => {
    const at = workplace();
    const first = openTty(at, run('live'), 80);
    await first.untilShown('asks you');
    for (const row of first.screen()) expect([...row].length).toBeLessThanOrEqual(80);
    first.send('w');
    await first.untilShown('why      question #2 waits for you');
    first.send(ESCAPE);
    await first.untilShown('↑↓ move');
    first.send('t');
    first.send('Look for "price" as well');
    await first.untilShown('> Look for "price" as well_');
    first.send(ENTER);
    await first.untilShown('live/#1 was told');
    first.send('n');
    first.send(ASK);
    await first.untilShown(`> ${ASK}_`);
    first.send(ENTER);
    await first.untilShown('? #4  #3 asks you');
    first.send(`${DOWN}${DOWN}`);
    first.send('s');
    await first.untilShown('Stop #3 and all below it?');
    first.send('y');
    await first.untilShown('live/#3 stopped');
    first.send(CTRL_C);
    await first.untilShown('l or Ctrl-C leave   e end all nodes');
    first.send('l');
    expect(await first.ended).toBe(130);
    expect(first.out()).toContain('Left: reprise tree continue live goes on.');

    const second = openTty(at, ['tree', 'continue'], 120);
    await second.untilShown('asks you');
    const beside = openTty(at, ['tree', 'watch'], 120);
    await beside.untilShown('asks you');
    expect(beside.screen().filter((row) => row.includes('[open]'))).toEqual(
      second.screen().filter((row) => row.includes('[open]')),
    );
    const answering = openTty(at, ['tree', 'answer', '#2', 'all of them']);
    expect(await answering.ended).toBe(0);
    expect(answering.out()).toContain('live/#2 answered');
    expect(await second.ended).toBe(0);
    expect(await beside.ended).toBe(0);
    expect(beside.out()).toContain('✓ #1 [complete] GOAL');
    expect(beside.out()).toContain('⊘ #3 [cancelled]');
    expect(second.out()).toContain('“price” stands in');
  });

  it('a second Ctrl-C leaves and ends nothing; words that are typed out end all nodes, with exit code 4', async () => {
    const at = workplace();
    const tty = openTty(at, run('stopped'));
    await tty.untilShown('asks you');
    tty.send(DOWN);
    tty.send('s');
    await tty.untilShown('Stop #2 and all below it?');
    tty.send(ESCAPE);
    await tty.untilShown('↑↓ move');
    tty.send(CTRL_C);
    await tty.untilShown('l or Ctrl-C leave');
    tty.send(CTRL_C);
    expect(await tty.ended).toBe(130);
    expect(tty.out()).not.toContain('[cancelled]');
    const again = openTty(at, ['tree', 'continue']);
    await again.untilShown('asks you');
    again.send('q');
    await again.untilShown('e end all nodes');
    again.send('e');
    await again.untilShown('Type stop all and');
    again.send('stop all');
    again.send(ENTER);
    expect(await again.ended).toBe(4);
    expect(again.out()).toContain('⊘ #1 [cancelled]');
  });

  it('the screen is drawn at most ten times a second while keys are held', async () => {
    const tty = openTty(workplace(), run('held'));
    await tty.untilShown('asks you');
    const [before, began] = [tty.redraws(), Date.now()];
    for (let i = 0; i < 60; i++) {
      tty.send(DOWN);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    const seconds = (Date.now() - began) / 1_000;
    expect(tty.redraws() - before).toBeLessThanOrEqual(Math.ceil(seconds * 10) + 1);
    tty.send('ql');
    await tty.ended;
  });

  it.each([80, 120])(
    'the screen of an earlier frame at %i columns is the one of the golden file, and keys lead to other frames and launches',
    async (columns) => {
      const world = folder.file(`recorded-${columns}.db`);
      await makeSurvey(world);
      const tty = openTty(folder.path, ['tree', 'watch', 'survey', '--world', world, '--at', '16'], columns, 20);
      await tty.untilShown('as it was: [ ] other frames');
      const text = `${tty.screen().join('\n')}\n`;
      for (const row of tty.screen()) expect([...row].length).toBeLessThanOrEqual(columns);
      const path = new URL(`./golden/terminal-${columns}.txt`, import.meta.url);
      if (process.env.GOLDEN_UPDATE === '1') writeFileSync(path, text);
      expect(text).toBe(readFileSync(path, 'utf8'));
      tty.send('[');
      await tty.untilShown(' frame 15 of ');
      tty.send('s');
      await tty.untilShown('only what is now can be acted on');
      tty.send('.');
      await tty.untilShown('○ no process runs it'); // the recording was closed
      await tty.untilShown('nothing runs: reprise tree continue survey goes on');
      tty.send('?');
      await tty.untilShown('add a child to the node');
      tty.send(ESCAPE);
      await tty.untilShown('↑↓ move');
      tty.send(DOWN);
      tty.send(ENTER);
      await tty.untilShown('survey/#2 SPAWN List what imports it');
      tty.send('q');
      await tty.untilShown('↑↓ move');
      tty.send('q');
      expect(await tty.ended).toBe(0);
    },
  );

  it('a tree that has ended stays on the screen of tree watch until the user leaves, and all of it can be read', async () => {
    const at = workplace();
    const first = openTty(at, run('over'));
    await first.untilShown('asks you');
    first.send('a');
    await first.untilShown('Answer #2');
    first.send(`2${ENTER}`);
    expect(await first.ended).toBe(0);
    const tty = openTty(at, ['tree', 'watch', 'over'], 60, 16);
    await tty.untilShown('it has ended');
    for (const row of tty.screen()) expect([...row].length).toBeLessThanOrEqual(60);
    tty.send(`${DOWN}${ENTER}`);
    await tty.untilShown('over/#2 ASK');
    tty.send(ESCAPE);
    await tty.untilShown('↑↓ move');
    tty.send('[');
    await tty.untilShown('as it was');
    tty.send('.q');
    expect(await tty.ended).toBe(0);
  });
});
