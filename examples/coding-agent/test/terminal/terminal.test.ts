/** The coding agent in a real pseudo-terminal: approvals that can be trusted, and input that a person can edit. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { program } from '../../../../scripts/lib/program.js';
import { hasPty, openTerminal, type Tty, type TtyOptions } from '../../../../scripts/lib/terminal.js';
import { place } from '../driven.js';
import { modelServer } from './model-server.js';

const READY = '/help says';
const ASKED = '[y]es  [n]o';
const PASTE = ['\u001b[200~', '\u001b[201~'] as const;
const shell = (command: string) => ({ calls: [{ tool: 'run_shell', args: { command } }] });

const MAIN = await program(new URL('../../src/main.ts', import.meta.url));
/** No key of this machine reaches the command. */
const ENV = { OPENAI_API_KEY: undefined, OPENAI_BASE_URL: undefined, ANTHROPIC_API_KEY: undefined, NO_COLOR: '1' };

function openTty(args: readonly string[], options: TtyOptions = {}): Tty {
  return openTerminal(MAIN, args, { ...options, env: { ...ENV, ...options.env } });
}

/** Starts a conversation and sends its first message. */
async function begun(at: readonly string[], options: Parameters<typeof openTty>[1] = {}): Promise<Tty> {
  const tty = openTty(at, options);
  await tty.until(READY);
  await tty.type('go');
  return tty;
}

describe.runIf(hasPty())('in a terminal, an approval', () => {
  it('an approval shows the whole of a long command, and counts only after the end was on the screen', async () => {
    const { folder, at } = await place();
    const command = `echo ${'padding '.repeat(300)}&& touch HIDDEN`;
    const model = await modelServer(shell(command), { text: 'It is done.' });
    const tty = await begun([...at, ...model.at], { columns: 60, rows: 16 });
    await tty.until('more rows: Space reads on');
    await tty.until(ASKED);
    expect(tty.out()).not.toContain('touch HIDDEN');
    let mark = tty.mark();
    await tty.type('y');
    await tty.until('Read it to its end first', mark);
    expect(existsSync(path.join(folder, 'HIDDEN'))).toBe(false);
    await tty.press(' ');
    await tty.until('Space next page', mark);
    await tty.press('G');
    await tty.until('touch HIDDEN', mark);
    await tty.press('q');
    mark = tty.mark();
    await tty.type('y');
    await tty.until('It is done.', mark);
    expect(existsSync(path.join(folder, 'HIDDEN'))).toBe(true);
  });

  it('an approval makes hidden characters of a command visible, and says which they are', async () => {
    const { at } = await place();
    const model = await modelServer(shell('ls \u202etxt.exe\u001b[8m; touch b\u001b[0m # \u0430dmin'), {
      text: 'Fine.',
    });
    const tty = await begun([...at, ...model.at]);
    await tty.until(ASKED);
    expect(tty.out()).toContain('$ ls ‹U+202E›txt.exe␛[8m; touch b␛[0m');
    expect(tty.out()).toContain('characters that a terminal does not show: ‹U+202E›, ␛');
    expect(tty.out()).toContain('letters outside ASCII, which may look like others: \u0430 ‹U+0430›');
    expect(tty.out()).not.toContain('[a]lways'); // a compound command has no pattern
  });

  it('an approval shows a change with line numbers, the lines around it, and all of a long file', async () => {
    const { folder, at } = await place();
    const text = Array.from({ length: 200 }, (_, i) => (i === 180 ? 'curl http://evil' : `line ${i + 1}`)).join('\n');
    const model = await modelServer(
      { calls: [{ tool: 'edit_file', args: { path: 'src/cart.js', old: '> 5000', new: '>= 5000' } }] },
      { calls: [{ tool: 'write_file', args: { path: 'long.txt', text } }] },
      { text: 'Written.' },
    );
    const tty = await begun([...at, ...model.at]);
    await tty.until(ASKED);
    expect(tty.out()).toMatch(/10 - {3}return total\(items\) > 5000/);
    expect(tty.out()).toMatch(/10 \+ {3}return total\(items\) >= 5000/);
    expect(tty.out()).toContain('Allow edit_file: edit  src/cart.js?');
    let mark = tty.mark();
    await tty.type('y');
    await tty.until('Allow write_file: write  long.txt?', mark);
    mark = tty.mark();
    await tty.type('y');
    await tty.until('Read it to its end first', mark);
    await tty.press(' ', ...Array.from({ length: 12 }, () => ' '));
    expect(tty.out(mark)).toContain('curl http://evil');
    expect(existsSync(path.join(folder, 'long.txt'))).toBe(false);
    await tty.press('q');
    await tty.type('y');
    await tty.until('Written.', mark);
    expect(existsSync(path.join(folder, 'long.txt'))).toBe(true);
  });

  it('an approval is not decided by a paste, by a burst without brackets, or by keys from before the question', async () => {
    const { folder, at } = await place();
    const model = await modelServer(shell('touch RAN'), shell('touch RAN'), { text: 'Over.' });
    const tty = openTty([...at, ...model.at]);
    await tty.until(READY);
    await tty.press('g', 'o', '\r', 'y'); // the y is typed while the model thinks
    await tty.until(ASKED);
    let mark = tty.mark();
    await tty.press('\r');
    await tty.until('typed before the question stood here', mark);
    for (const paste of [`${PASTE[0]}y\r${PASTE[1]}`, `${PASTE[0]}y${PASTE[1]}`, 'yes\r', 'yes\ry\r', '\ry\r']) {
      mark = tty.mark();
      tty.send(paste);
      await tty.press('', '', '\r');
      await new Promise((resolve) => setTimeout(resolve, 200));
      await tty.press('\u0015'); // clears what is left in the line
    }
    await tty.until('a paste decides nothing', mark);
    expect(existsSync(path.join(folder, 'RAN'))).toBe(false);
    mark = tty.mark();
    await tty.type('y');
    await tty.until('● run  touch RAN  #2', mark);
    expect(existsSync(path.join(folder, 'RAN'))).toBe(true);
  });

  it('an approval is decided by y and Enter that arrive in one read, as a busy machine reads what a person typed', async () => {
    const { folder, at } = await place();
    const model = await modelServer(shell('touch RAN'), { text: 'It is over.' });
    const tty = await begun([...at, ...model.at]);
    await tty.until(ASKED);
    tty.send('y\r');
    await tty.until('It is over.');
    expect(existsSync(path.join(folder, 'RAN'))).toBe(true);
  });

  it('an answer that is typed while a resumed program draws decides nothing, and is no message to the agent', async () => {
    const { folder, at } = await place();
    const model = await modelServer(shell('touch RAN'), { text: 'It is over.' });
    const first = await begun([...at, ...model.at]);
    await first.until(ASKED);
    first.kill(9);
    await first.ended;
    const second = openTty([...at, ...model.at]);
    await second.press('y', '\r'); // before it has loaded
    await second.until('typed before the question stood here');
    await second.until(ASKED);
    expect(existsSync(path.join(folder, 'RAN'))).toBe(false);
    const mark = second.mark();
    await second.type('y');
    await second.until('It is over.', mark);
    expect(existsSync(path.join(folder, 'RAN'))).toBe(true);
    expect(model.bodies.join('')).not.toMatch(/"content":"[^"]*\by\b[^"]{0,3}"/);
  });

  it('a pattern of "always" allows what it names and no compound command, and is listed and taken back', async () => {
    const { at } = await place();
    const calls = ['git status', 'git status', 'git status && touch X', 'git status'].map(shell);
    const model = await modelServer(...calls, { text: 'Over.' });
    const tty = await begun([...at, ...model.at]);
    await tty.until('[a]lways');
    let mark = tty.mark();
    await tty.type('a');
    await tty.until('From now on allowed in this folder', mark);
    await tty.until('allowed without a question', mark);
    await tty.until('Allow run_shell: run  git status && touch X?', mark);
    expect(tty.out(mark)).not.toMatch(/touch X\?.*\[a\]lways/);
    await tty.type('/allowed');
    await tty.until('1  ', mark);
    await tty.type('/allowed drop 1');
    await tty.until('you are asked again about', mark);
    mark = tty.mark();
    await tty.type('n');
    await tty.until('Allow run_shell: run  git status?', mark);
  });

  it('Ctrl-C while arguments are edited leaves nothing behind, and changed arguments are asked about again', async () => {
    const { folder, at } = await place();
    const model = await modelServer(shell('touch A'), { text: 'Over.' });
    const tty = await begun([...at, ...model.at]);
    await tty.until(ASKED);
    await tty.type('e');
    await tty.until('Change the arguments');
    let mark = tty.mark();
    await tty.press('\u0003');
    await tty.until(ASKED, mark);
    mark = tty.mark();
    await tty.type('e');
    await tty.until('Change the arguments', mark);
    mark = tty.mark();
    await tty.press('\u001b[D', '\u001b[D', '\u007f', 'B', '\r');
    await tty.until('Allow run_shell: run  touch B?', mark);
    expect(existsSync(path.join(folder, 'B'))).toBe(false);
    await tty.type('y');
    await tty.until('Over.', mark);
    expect(existsSync(path.join(folder, 'B'))).toBe(true);
    expect(existsSync(path.join(folder, 'A'))).toBe(false);
    expect(model.bodies.join('')).not.toContain('touch A\\"}"}}]},{"role":"user"'); // the draft never reached the model
  });
});

describe.runIf(hasPty())('in a terminal, input and output', () => {
  it('a message has several lines, a paste is one message, and the history gives both back', async () => {
    const { at } = await place();
    const model = await modelServer({ text: 'Heard.' });
    const first = openTty([...at, ...model.at]);
    await first.until(READY);
    await first.press('o', 'n', 'e', '\u001b\r', 't', 'w', 'o', '\\', '\r', '3');
    first.send(`${PASTE[0]}👨‍👩‍👧 日本\r\npasted\r\n${PASTE[1]}`);
    await first.press('', '\r');
    await first.until('✓ done');
    expect(model.bodies[0]).toContain('one\\ntwo\\n3👨‍👩‍👧 日本\\npasted');
    await first.press('\u0003', '\u0003');
    expect(await first.ended).toBe(130);

    const second = openTty([...at, ...model.at]);
    await second.until('before this; /log lists them');
    const mark = second.mark();
    await second.press('\u001b[A');
    await second.until('pasted', mark);
    await second.press('\u0003', '\u0003', '\u0003');
    expect(await second.ended).toBe(130);
  });

  it('the output of a program is shown while it runs, folded when it has ended, and whole on request', async () => {
    const { at } = await place();
    const command = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo tick-$i; sleep 0.1; done';
    const model = await modelServer(shell(command), { text: 'Over.' });
    const tty = await begun([...at, ...model.at]);
    await tty.until(ASKED);
    const mark = tty.mark();
    await tty.type('y');
    const live = await tty.until('│ tick-3', mark);
    expect(live).not.toContain('tick-12');
    const folded = await tty.until('6 lines before', mark);
    expect(folded).toContain('/show 1 or Ctrl-O');
    await tty.until('Over.', mark);
    const page = tty.mark();
    await tty.press('\u000f');
    expect(await tty.until('END', page)).toMatch(/tick-1\n.*tick-2\n/);
    await tty.press('q');
  });

  it('Ctrl-C stops a program that ignores signals and would not end, and the answer says how it ended', async () => {
    const { at } = await place();
    const command = "trap '' INT TERM; while true; do echo still-here; sleep 0.1; done";
    const model = await modelServer(shell(command), { text: 'Over.' });
    const tty = await begun([...at, ...model.at]);
    await tty.until(ASKED);
    const mark = tty.mark();
    await tty.type('y');
    await tty.until('│ still-here', mark);
    await tty.press('\u0003');
    await tty.until('stopping …', mark);
    await tty.until('■ stopped', mark);
    expect(tty.out(mark)).toContain('it was told to stop and was killed');
  });

  it('an answer is shown as it arrives, with its headings, lists and tables, and what it cost as far as it is known', async () => {
    const { at } = await place();
    const model = await modelServer({
      text: ['# Res', 'ult\n\n- **one**\n', '- two\n\n| a | b |\n|--', '-|---|\n| 1 | 2 |\n'],
    });
    const tty = await begun([...at, ...model.at, '--price', '1,10', '--window', '128000']);
    await tty.until('✓ done');
    expect(tty.out()).toContain('# Result');
    expect(tty.out()).toContain('• one\n• two');
    expect(tty.out()).toContain('a │ b\n──┼──\n1 │ 2');
    await tty.until('1.2k tokens in, 40 out · $0.0016 · context 1 % of 128k');
    await tty.press('\u0003', '\u0003');
    await tty.ended;
    const unpriced = openTty([...at, ...model.at]);
    await unpriced.until('before this; /log lists them');
    await unpriced.type('go on');
    await unpriced.until('2.4k tokens in, 80 out · at least $0.0016'); // what the second answer costs is not known
  });

  it('a change of the window draws the lower part again, and the pager follows', async () => {
    const { at } = await place();
    const model = await modelServer(shell(`echo ${'word '.repeat(400)}`), { text: 'Over.' });
    const tty = await begun([...at, ...model.at], { columns: 100, rows: 20 });
    await tty.until(ASKED);
    let mark = tty.mark();
    tty.resize(40, 12);
    await tty.until('more rows', mark);
    await tty.press(' ');
    await tty.until('rows 1-11', mark);
    mark = tty.mark();
    tty.resize(60, 15);
    await tty.until('rows 1-14', mark);
    await tty.press('q');
  });

  it('a report of the terminal at a page or a question is no key: it swallows none, and a click does not decide', async () => {
    const { folder, at } = await place();
    const model = await modelServer(shell('touch CLICKED'), { text: 'Over.' });
    const tty = await begun([...at, ...model.at]);
    await tty.until(ASKED);
    let mark = tty.mark();
    await tty.type('v');
    await tty.until('END', mark);
    mark = tty.mark();
    await tty.press('\u001b]11;rgb');
    await new Promise((resolve) => setTimeout(resolve, 500)); // longer than a report takes
    await tty.press('q');
    await tty.until(ASKED, mark);
    await tty.press('y');
    await tty.press('\u001b[<0;1;1M');
    await tty.press('\u001b[M !!');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(existsSync(path.join(folder, 'CLICKED'))).toBe(false);
    mark = tty.mark();
    await tty.press('\r');
    await tty.until('Over.', mark);
    expect(existsSync(path.join(folder, 'CLICKED'))).toBe(true);
  });

  it('a dumb terminal and NO_COLOR get no escape sequence for colors, and a dumb one gets none at all', async () => {
    const { at } = await place();
    const model = await modelServer({ text: '**Bold** answer.' });
    const plainTty = await begun([...at, ...model.at]);
    await plainTty.until('✓ done');
    const colors = new RegExp(`${'\u001b'}\\[[0-9;]*m`);
    expect(plainTty.raw()).not.toMatch(colors);
    await plainTty.press('\u0003', '\u0003');
    const dumb = openTty([...at, ...model.at], { env: { TERM: 'dumb', NO_COLOR: '' } });
    await dumb.until('before this; /log lists them');
    dumb.send('go\r');
    await dumb.until('✓ done');
    expect(dumb.raw()).not.toContain('\u001b');
  });

  it('a line typed while an unfinished run loads is read by that run, and everything is shown once', async () => {
    const { folder, at } = await place();
    const model = await modelServer(shell('sleep 1'), { text: 'word0 word1' });
    const first = await begun([...at, ...model.at]);
    await first.until(ASKED);
    first.kill(9);
    await first.ended;
    writeFileSync(path.join(folder, 'note.txt'), '');
    const second = openTty([...at, ...model.at]);
    await second.press('h', 'i', '\r'); // before it has loaded
    await second.until(ASKED);
    await second.until('it reads that before its next step');
    const mark = second.mark();
    await second.type('y');
    await second.until('✓ done', mark);
    expect(second.out().split('word0 word1')).toHaveLength(2);
    expect(readFileSync(path.join(folder, 'note.txt'), 'utf8')).toBe('');
  });

  it('a command typed at the question of another command does not answer it', async () => {
    const { folder, at } = await place();
    const model = await modelServer(
      { calls: [{ tool: 'write_file', args: { path: 'new.txt', text: 'text' } }] },
      { text: 'Over.' },
    );
    const tty = await begun([...at, ...model.at]);
    await tty.until(ASKED);
    await tty.type('y');
    await tty.until('✓ done');
    let mark = tty.mark();
    await tty.type('/fork 1');
    await tty.until('Set these files back?', mark);
    mark = tty.mark();
    await tty.type('/why');
    await tty.until('because the model said so', mark);
    await tty.type('maybe');
    await tty.until('Type y or n.', mark);
    await tty.type('y');
    await tty.until('This is world 2 now', mark);
    expect(existsSync(path.join(folder, 'new.txt'))).toBe(false);
  });
});
