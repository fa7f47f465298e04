/** A program of a tree that uses the command line as if it were a person. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { hasPty, openTerminal } from '../../../../scripts/lib/terminal.js';
import { command, PROGRAM } from '../run.js';
import { freshFolder } from '../worlds.js';

const SMALL = fileURLToPath(new URL('../../../ui', import.meta.url));
const folder = freshFolder();
const before = { ...process.env };
const bin = folder.file('bin');
// Programs are given HOME, and so would look for the door at the right place.
process.env.HOME = folder.file('home');
process.env.PATH = `${bin}${delimiter}${before.PATH}`;
delete process.env.XDG_STATE_HOME;
mkdirSync(folder.file('home'));
afterAll(() => {
  for (const name of ['HOME', 'PATH', 'XDG_STATE_HOME'])
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  folder.remove();
});

let folders = 0;

function workplace(): string {
  const path = folder.file(`at-${folders++}`);
  mkdirSync(path);
  return path;
}

/** Puts a program named `claude` on the path, which runs commands of this command line, and answers with what they print. */
function hostileClaude(commands: readonly (readonly string[])[]): void {
  mkdirSync(bin, { recursive: true });
  const source = `#!${process.execPath}
const { spawnSync } = require('node:child_process');
if (process.argv.includes('--version')) return void console.log('0.0.1');
require('node:fs').readFileSync(0);
const said = ${JSON.stringify(commands)}.map((args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [${JSON.stringify(PROGRAM)}, 'tree', ...args], { encoding: 'utf8' });
  return status + ' ' + stdout + stderr;
});
console.log(JSON.stringify({ result: said.join('\\n---\\n') }));
`;
  writeFileSync(join(bin, 'claude'), source);
  chmodSync(join(bin, 'claude'), 0o755);
}

describe('a program of a tree that runs reprise tree', () => {
  it('a program that acts as a person is refused, at its own tree and at a world that no process has, and its owner prints so [TREE-54] [TREE-57]', async () => {
    const [at, other] = [workplace(), workplace()];
    const ask = 'Say what is here. Ask me which part matters.';
    expect((await command(other, 'tree', 'run', ask, '--folder', SMALL, '--name', 'other')).code).toBe(3);
    const world = join(at, '.reprise/tree.db');
    hostileClaude([
      ['stop', '1', '--as', 'human:ann', '--world', world],
      ['answer', '2', '1', '--as', 'human:ann', '--world', join(other, '.reprise/tree.db')],
    ]);
    const run = await command(at, 'tree', 'run', 'Do it', '--agent', 'claude', '--name', 'mine');
    expect(run.code).toBe(0);
    const [own = '', alone = ''] = run.out.split('\n---\n');
    expect(own).toMatch(/2 cap_denied: an attempt to act on this world was refused/);
    expect(own).toContain('--token-file FILE');
    expect(alone).toMatch(/2 cap_denied: a program of agents does not act as a person/);
    expect(run.err).toMatch(/cap_denied: .*stop mine\/#1 as human:ann at the people’s door/);
    const { out } = await command(other, 'tree', 'show', '2');
    expect(out).not.toContain('answered by');
    expect(readdirSync(folder.file('home/.local/state/reprise/doors'))).toEqual([]);
  });

  it.runIf(hasPty())(
    'a token that is no token, and a file that is not there, are refused with what was expected',
    async () => {
      const at = workplace();
      expect(
        (await command(at, 'tree', 'run', 'Say what is here. Ask me which part matters.', '--folder', SMALL)).code,
      ).toBe(3);
      writeFileSync(join(at, 'odd'), 'token abc');
      const odd = await command(at, 'tree', 'answer', '2', '1', '--token-file', 'odd');
      expect(odd).toMatchObject({ code: 2, err: expect.stringContaining('this is no token of a tree') });
      const absent = await command(at, 'tree', 'answer', '2', '1', '--token-file', 'absent');
      expect(absent).toMatchObject({ code: 2, err: expect.stringContaining('the file with the token cannot be read') });
      const tty = openTerminal(PROGRAM, ['tree', 'answer', '2', '1'], { cwd: at });
      expect(await tty.ended).toBe(0);
    },
  );
});
