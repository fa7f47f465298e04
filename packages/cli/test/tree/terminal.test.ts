/** A person at a terminal: a tree on the screen, questions answered by keys, leaving, going on, watching beside it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { command } from '../run.js';
import { freshFolder } from '../worlds.js';
import { hasPty, openTty } from './tty.js';

const folder = freshFolder();
afterAll(() => folder.remove());
const LONG = { timeout: 240_000 };
const ASK = 'Say what is here. Ask me which part matters.';
const [ENTER, DOWN, ESCAPE, CTRL_C] = ['\r', '\u001b[B', '\u001b', '\u0003'];

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
  it('a question is answered by keys, and the tree ends with its report below the picture', LONG, async () => {
    const tty = openTty(workplace(), run('keys'));
    await tty.until('#1 asks you: Which part shall I look at?');
    tty.send('a');
    await tty.until('Answer #2: ⏎ sends, esc leaves it open');
    tty.send('7');
    tty.send(ENTER);
    await tty.until('"7" is not one of the options');
    tty.send('\u007f2');
    tty.send(ENTER);
    expect(await tty.ended).toBe(0);
    expect(tty.out()).toContain('✓ #3 [complete] SPAWN Look at src');
    expect(tty.out()).toContain('# Say what is here.');
    expect(tty.out()).not.toContain('Look at test');
  });

  it(
    'a person opens a node, tells it something, stops it, leaves with Ctrl-C, and goes on; another terminal watches and answers',
    LONG,
    async () => {
      const at = workplace();
      const first = openTty(at, run('live'), 80);
      await first.until('asks you');
      for (const row of first.screen()) expect([...row].length).toBeLessThanOrEqual(80);
      first.send('w');
      await first.until('why      question #2 waits for you');
      first.send(ESCAPE);
      await first.until('↑↓ move');
      first.send('t');
      first.send('Look for "price" as well');
      await first.until('> Look for "price" as well_');
      first.send(ENTER);
      await first.until('live/#1 was told');
      first.send(CTRL_C);
      await first.until('l leave   c cancel all nodes');
      first.send('l');
      expect(await first.ended).toBe(130);
      expect(first.out()).toContain('Left: reprise tree continue live goes on.');

      const second = openTty(at, ['tree', 'continue'], 120);
      await second.until('asks you');
      const beside = openTty(at, ['tree', 'watch'], 120);
      await beside.until('asks you');
      expect(beside.screen().filter((row) => row.includes('[open]'))).toEqual(
        second.screen().filter((row) => row.includes('[open]')),
      );
      const answered = await command(at, 'tree', 'answer', '2', 'all of them');
      expect(answered).toMatchObject({ code: 0, out: expect.stringContaining('live/#2 answered') });
      expect(await second.ended).toBe(0);
      expect(await beside.ended).toBe(0);
      expect(beside.out()).toContain('✓ #1 [complete] GOAL');
      expect(second.out()).toContain('“price” stands in');
    },
  );

  it('a second Ctrl-C cancels all nodes and exits with 4; a stopped node needs a confirmation', LONG, async () => {
    const tty = openTty(workplace(), run('stopped'));
    await tty.until('asks you');
    tty.send(DOWN);
    tty.send('s');
    await tty.until('Stop #2 and all below it?');
    tty.send(ESCAPE);
    await tty.until('↑↓ move');
    tty.send(CTRL_C);
    await tty.until('l leave');
    tty.send(CTRL_C);
    expect(await tty.ended).toBe(4);
    expect(tty.out()).toContain('⊘ #1 [cancelled]');
  });

  it('the screen is drawn at most ten times a second while keys are held', LONG, async () => {
    const tty = openTty(workplace(), run('held'));
    await tty.until('asks you');
    const [before, began] = [tty.redraws(), Date.now()];
    for (let i = 0; i < 60; i++) {
      tty.send(DOWN);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    const seconds = (Date.now() - began) / 1_000;
    expect(tty.redraws() - before).toBeLessThanOrEqual(Math.ceil(seconds * 10) + 1);
    tty.send('qc');
    await tty.ended;
  });
});
