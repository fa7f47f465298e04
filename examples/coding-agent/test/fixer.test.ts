/** The embedded model on folders with real mistakes, and its reaction to denials, stops and further messages. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AgentEvent, type Decision, memory, openWorld, type Pending } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { afterEach, describe, expect, it } from 'vitest';
import { coder } from '../src/coder.js';
import { nextStep } from '../src/demo/fixer.js';
import { writeDemo } from '../src/demo/folder.js';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-fixer-'));
  made.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

const check = (body: string) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { f, g } from './f.js';
test('it holds', () => {
${body}
});
`;

/** Sends the model a message, decides by a rule, and returns its answer and its calls. */
async function asked(
  folder: string,
  text: string,
  decided: (item: Pending) => Decision = () => ({ approve: true }),
  meanwhile: string | undefined = undefined,
) {
  const agent = coder({ folder, model: 'main' });
  await using world = await openWorld({ store: memory(), models: { main: scriptBy(nextStep) }, agents: [agent] });
  const session = world.session('s', agent);
  const run = await session.send(text, { id: 'm' });
  const events: AgentEvent[] = [];
  let told = meanwhile;
  for await (const event of run.events()) {
    events.push(event);
    if (event.type !== 'human.requested') continue;
    if (told !== undefined) await session.steer(told);
    told = undefined;
    const [item] = await world.pending();
    if (item !== undefined) await world.decide(item, decided(item));
  }
  await world.verify();
  const calls = events.flatMap((event) => (event.type === 'tool.requested' ? [event.tool] : []));
  return { text: await run.text(), calls, edits: calls.filter((tool) => tool === 'edit_file').length };
}

const both = (f: string, g = '(a) => a') => `export const f = ${f};\n\nexport const g = ${g};\n`;

describe('the embedded model', () => {
  it.each([
    ['a bound', both('(a) => a < 3'), '  assert.equal(f(3), true);'],
    ['an operator', both('(a, b) => a - b'), '  assert.equal(f(2, 3), 5);'],
    [
      'a beginning',
      both('(all) => {\n  let n = 1;\n  for (const one of all) n += one;\n  return n;\n}'),
      '  assert.equal(f([1, 2]), 3);',
    ],
    [
      'two mistakes, one after the other',
      both('(a) => a > 3', '(a, b) => a * b'),
      '  assert.equal(f(3), true);\n});\ntest("and this", () => {\n  assert.equal(g(6, 3), 2);',
    ],
  ])('the embedded model fixes %s until the tests pass', async (_, source, body) => {
    const folder = folderOf({ 'f.js': source, 'f.test.js': check(body), 'package.json': '{"type":"module"}' });
    const { text } = await asked(folder, 'Make the tests pass.');
    expect(text).toMatch(/^(All \d tests pass|The test passes)\./);
  });

  it('the embedded model gives up if no correction helps, and restores the file', async () => {
    const source = both('(a) => a > 3 ? 1 : 2');
    const folder = folderOf({
      'f.js': source,
      'f.test.js': check('  assert.equal(f(9), 7);'),
      'package.json': '{"type":"module"}',
    });
    const { text } = await asked(folder, 'Fix it.');
    expect(text).toContain('I have tried every correction that I know, and none helped. The file is as it was.');
    expect(readFileSync(path.join(folder, 'f.js'), 'utf8')).toBe(source);
  });

  it('the embedded model changes nothing if the tests pass, and reports when it finds no correction', async () => {
    const passing = {
      'f.js': both('(a) => a'),
      'f.test.js': check('  assert.equal(f(1), 1);'),
      'package.json': '{"type":"module"}',
    };
    expect((await asked(folderOf(passing), 'fix the tests')).text).toBe('The test passes. There is nothing to fix.');
    expect((await asked(folderOf({ 'a.txt': '' }), 'fix the tests')).text).toContain('I find no tests here');
    expect((await asked(folderOf({ 'a.txt': '' }), 'What is here?')).text).toBe('This is here:\n- a.txt');
    expect((await asked(folderOf({}), 'Sing.')).text).toContain('I am the embedded model');
  });

  it('the embedded model does not repeat a refused request, and names the reason', async () => {
    const folder = folderOf({});
    await writeDemo(folder);
    const edits = await asked(folder, 'fix it', ({ tool }) =>
      tool === 'edit_file' ? { deny: 'not in May' } : { approve: true },
    );
    expect(edits).toMatchObject({
      edits: 1,
      text: expect.stringContaining('You did not want this edit ("not in May")'),
    });
    const runs = await asked(folder, 'fix it', () => ({ deny: '' }));
    expect(runs.text).toContain('Without running the tests I cannot tell what is wrong');
  });

  it('the embedded model stops on request and reports its changes', async () => {
    const folder = folderOf({});
    await writeDemo(folder);
    const { text, edits } = await asked(folder, 'fix it', undefined, 'Stop, please.');
    expect({ text, edits }).toEqual({ text: 'I stop here. Nothing was changed.', edits: 0 });
  });

  it('the embedded model repeats the request when it cannot do it', async () => {
    const folder = folderOf({});
    await writeDemo(folder);
    const { text } = await asked(folder, 'fix it', undefined, 'and write it in Rust');
    expect(text).toContain('You also said "and write it in Rust": that is more than my rules can do.');
  });
});
