/** Trees that wait, without a terminal: the exit code, what is waited for, and what ends the wait. Each run is a process of its own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asked, type ModelServer, modelServer, type Said } from '../../../../conformance/team/model-server.js';
import { command, ended, start } from '../run.js';
import { freshFolder } from '../worlds.js';

const folder = freshFolder();
let model: ModelServer;
beforeAll(async () => {
  model = await modelServer(said);
});
afterAll(() => {
  model.stop();
  folder.remove();
});

/** A root with two children; the first asks a person before it gives its result. `Zigzag`: the second needs the first. */
function said({ last, raw, step, answers }: Asked): Said | Promise<Said> {
  if (raw.includes('Never')) return new Promise(() => undefined);
  const n = Number(/You are node #(\d+)/.exec(last)?.[1]);
  const call = (tool: string, args: object) => ({ tool, args });
  if (answers.at(-1)?.includes('"accepted":true')) return { text: 'Done.' };
  if (last.includes('Results of your children')) return { calls: [call('complete', { result: 'All' })] };
  const spawn = (goal: string, more: object = {}) => call('spawn', { goal, prompt: goal, ...more });
  if (n === 1 && step === 0)
    return { calls: [spawn('first'), spawn('second', raw.includes('Zigzag') ? { blocked_by: [2] } : {})] };
  if (n === 1) return { text: 'I wait.' };
  if (n === 2 && step === 0) return { calls: [call('ask', { question: 'Really?', options: ['yes', 'no'] })] };
  return { calls: [call('complete', { result: `node ${n}` })] };
}

/** A folder with a file, in which `.reprise/tree.db` stands. */
function workplace(name: string): string {
  const at = folder.file(name);
  mkdirSync(at);
  writeFileSync(join(at, 'a.js'), '// a\n');
  return at;
}

const run = (at: string, goal: string, name: string, ...more: string[]) =>
  command(at, 'tree', 'run', goal, '--name', name, '--model', 'm', '--base-url', model.url, ...more);

const outcomeOf = (out: string) => JSON.parse(out.trimEnd().split('\n').at(-1) ?? '');

describe('a tree that waits, without a terminal', () => {
  it('reprise tree run ends with 3 when a node asks a person and another node needs it; show names both waits [TREE-61] [TREE-62]', async () => {
    const at = workplace('needs');
    const ran = await run(at, 'Zigzag', 'n');
    expect(ran).toMatchObject({
      code: 3,
      err: expect.stringContaining('The tree waits for an answer of a person, and there is no terminal.'),
    });
    expect(ran.err).toContain('  reprise tree answer n/4 VALUE\n  reprise tree continue n\n');
    expect(ran.out).toContain('blocked-by: #2');
    const shown = JSON.parse((await command(at, 'tree', 'show', 'n', '--json')).out);
    expect(shown.waits).toEqual([
      { kind: 'children', node: 1, on: [2, 3] },
      { kind: 'question', node: 2, ask: 4, of: [], until: null },
      { kind: 'dependency', node: 3, on: [2] },
    ]);
    expect((await command(at, 'tree', 'show', 'n/3')).out).toMatch(/why +it needs #2 [^\n]*\n[\s\S]*needs +#2/);
    await command(at, 'tree', 'answer', 'n/4', 'yes');
    expect(await command(at, 'tree', 'continue', 'n')).toMatchObject({ code: 0 });
  });

  it('reprise tree continue ends with 3 when a tree is paused, and says how it is resumed [TREE-61] [TREE-62]', async () => {
    const at = workplace('paused');
    expect(await run(at, 'Go', 'p')).toMatchObject({ code: 3 });
    await command(at, 'tree', 'pause', 'p/1');
    await command(at, 'tree', 'answer', 'p/4', 'yes');
    const paused = await command(at, 'tree', 'continue', 'p', '--json');
    expect(paused.code).toBe(3);
    expect(outcomeOf(paused.out)).toMatchObject({ type: 'outcome', status: 'paused', exit: 3 });
    expect(outcomeOf(paused.out).waits).toContainEqual({ kind: 'pause', node: 1 });
    expect((await command(at, 'tree', 'continue', 'p')).err).toContain('reprise tree resume p/1');
    await command(at, 'tree', 'resume', 'p/1');
    expect(await command(at, 'tree', 'continue', 'p')).toMatchObject({ code: 0 });
  });

  it('reprise tree run ends with 3 when a ready node waits for budget that a waiting run has set aside, and names both [TREE-61] [TREE-62]', async () => {
    const at = workplace('budget');
    const ran = await run(at, 'Go', 'b', '--price', '3,15', '--tree-budget', '0.5');
    expect(ran.code).toBe(3);
    expect(ran.err).toContain('reprise tree answer b/4 VALUE');
    expect(ran.err).toContain('#3 needs budget that waiting runs have set aside');
    const shown = JSON.parse((await command(at, 'tree', 'show', 'b', '--json')).out);
    expect(shown.waits).toContainEqual({ kind: 'budget', node: 3, reserved: shown.reserved });
    expect((await command(at, 'tree', 'show', 'b/3')).out).toContain('begins when there is budget again');
    await command(at, 'tree', 'answer', 'b/4', 'yes');
    expect(await command(at, 'tree', 'continue', 'b')).toMatchObject({ code: 0 });
  });

  it('Ctrl-C twice at once leaves with 130, and no node ends [TREE-63]', async () => {
    const at = workplace('left');
    const child = start(at, 'tree', 'run', 'Never', '--name', 'l', '--model', 'm', '--base-url', model.url);
    const end = ended(child);
    await new Promise<void>((resolve) =>
      child.stdout?.on('data', (text) => String(text).includes('#1 [active]') && resolve()),
    );
    for (const signal of ['SIGINT', 'SIGINT', 'SIGINT'] as const) child.kill(signal);
    expect(await end).toMatchObject({
      code: 130,
      err: expect.stringContaining('Leaving: reprise tree continue l goes on.'),
    });
    const shown = JSON.parse((await command(at, 'tree', 'show', 'l', '--json')).out);
    expect(shown).toMatchObject({ status: 'running', ended: null, acts: [] });
  });
});
