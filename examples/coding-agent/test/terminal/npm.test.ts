/** The coding agent as its user starts it: from a shell, by npm, with the keys that a shell and a terminal know. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../../scripts/lib/root.mjs';
import { hasPty, openCommand } from '../../../../scripts/lib/terminal.js';
import { place } from '../driven.js';
import { modelServer } from './model-server.js';

const READY = '/help says';
const ASKED = '[y]es  [n]o';
const PROMPT = 'shell-is-here> ';
/** Longer than two inputs of a machine are apart, and shorter than two of a person. */
const PERSON_MS = 50;
const [CTRL_C, CTRL_Z] = ['\u0003', '\u001a'];
/** No key of this machine reaches the command. */
const ENV = { OPENAI_API_KEY: undefined, OPENAI_BASE_URL: undefined, ANTHROPIC_API_KEY: undefined, NO_COLOR: '1' };

describe.runIf(hasPty())('the coding agent that npm runs in a shell', () => {
  it('Ctrl-Z stops it and fg brings it back, also in a question that is resized; early keys wait, and Ctrl-C twice leaves', async () => {
    const { home, folder, at } = await place();
    const settings = path.join(home, 'bashrc');
    writeFileSync(settings, `PS1='${PROMPT}'\nunset HISTFILE\n`);
    const model = await modelServer(
      { calls: [{ tool: 'run_shell', args: { command: `echo ${'word '.repeat(40)}&& touch RAN` } }] },
      { text: 'It is over.' },
    );
    const shell = openCommand(['bash', '--rcfile', settings, '-i'], {
      cwd: ROOT,
      env: ENV,
    });
    await shell.until(PROMPT);
    shell.send(`npm run --silent coding-agent -- ${[...at, ...model.at].join(' ')}\r`);
    shell.send('early words'); // before the program reads anything
    await shell.until(READY);
    await shell.untilShown('› early words');

    let mark = shell.mark();
    shell.send(CTRL_Z);
    await shell.until('Stopped', mark);
    await shell.until(PROMPT, mark);
    mark = shell.mark();
    shell.send('echo $((6*7)) is the answer\r'); // the shell has the terminal as it was
    await shell.until('42 is the answer', mark);
    mark = shell.mark();
    shell.send('fg\r');
    await shell.until('early words', mark);

    await shell.press('\r');
    await shell.until(ASKED);
    mark = shell.mark();
    shell.resize(50, 14);
    await shell.until(ASKED, mark);
    for (const row of shell.screen()) expect([...row].length).toBeLessThanOrEqual(50);
    mark = shell.mark();
    shell.send(CTRL_Z);
    await shell.until('Stopped', mark);
    mark = shell.mark();
    shell.send('fg\r');
    await shell.until(ASKED, mark);
    expect(existsSync(path.join(folder, 'RAN'))).toBe(false);
    mark = shell.mark();
    await pause(PERSON_MS); // behind the key that stopped the program
    shell.send('y\r'); // fast: both keys in one read
    await shell.until('It is over.', mark);
    expect(existsSync(path.join(folder, 'RAN'))).toBe(true);

    await shell.until('✓ done', mark);
    mark = shell.mark();
    shell.send(CTRL_C);
    await shell.until('Ctrl-C once more leaves', mark);
    mark = shell.mark();
    shell.send(CTRL_C);
    await shell.until(PROMPT, mark);
    shell.send('echo left with $?\r');
    await shell.until('left with 130', mark);
    shell.send('exit\r');
    expect(await shell.ended).toBe(0);
  });
});
