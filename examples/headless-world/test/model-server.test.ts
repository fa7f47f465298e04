import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tool } from 'reprise';
import { memory } from 'reprise/kernel';
import { validateRequest } from 'reprise/providers';
import { describeTools, isToolError, workspace } from 'reprise/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../src/model-server.js';

let server: ModelServer;
let scratch: string;
beforeAll(async () => {
  server = await startModelServer();
  scratch = mkdtempSync(path.join(tmpdir(), 'reprise-survey-'));
});
afterAll(async () => {
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
});

interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

interface Survey {
  readonly calls: string[];
  readonly batches: number[];
  readonly last: string;
  readonly messages: Message[];
}

let folders = 0;

/** Makes a folder; the n-th file was last changed n hours after the start of 2024. */
function folder(files: Readonly<Record<string, string>>): string {
  const root = path.join(scratch, `folder-${folders++}`);
  mkdirSync(root);
  Object.entries(files).forEach(([name, content], i) => {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    const when = Date.UTC(2024, 0, 1, i) / 1000;
    utimesSync(file, when, when);
  });
  return root;
}

async function ask(body: unknown): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.baseUrl}/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

function requestOf(messages: readonly Message[], tools: readonly Tool[]) {
  const wire = describeTools(tools).map(({ name, description, schema }) => ({
    type: 'function',
    function: { name, description, parameters: schema },
  }));
  return { model: 'surveyor-1', messages, ...(wire.length === 0 ? {} : { tools: wire }) };
}

/** A minimal agent loop: calls the model, executes its calls, calls it again. */
async function survey(tools: readonly Tool[], prompt = 'Survey this folder.'): Promise<Survey> {
  const messages: Message[] = [{ role: 'user', content: prompt }];
  const done: Survey = { calls: [], batches: [], last: '', messages };
  for (let step = 0; step < 40; step++) {
    const request = requestOf(messages, tools);
    expect(validateRequest('openai-chat', request)).toEqual([]);
    const { status, text } = await ask(request);
    expect(status, text).toBe(200);
    const message = (JSON.parse(text) as { choices: { message: Message }[] }).choices[0]!.message;
    messages.push(message);
    if (message.tool_calls === undefined) return { ...done, last: message.content ?? '' };
    done.batches.push(message.tool_calls.length);
    for (const call of message.tool_calls) {
      done.calls.push(`${call.function.name} ${(JSON.parse(call.function.arguments) as { path: string }).path}`);
      messages.push({ role: 'tool', tool_call_id: call.id, content: await replay(tools, call.function) });
    }
  }
  throw new Error('the model does not end');
}

async function replay(tools: readonly Tool[], call: { name: string; arguments: string }): Promise<string> {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) return 'There is no such tool.';
  const { content } = await memory().open();
  const context = { signal: new AbortController().signal, content, changed: (changed: string) => changed };
  const checked = await tool.args['~standard'].validate(JSON.parse(call.arguments));
  if (checked.issues !== undefined) return 'These arguments do not fit.';
  const result = await tool.run(checked.value as never, context as never);
  return isToolError(result) ? result.message : String(result);
}

const REPOSITORY = {
  'README.md': '# Kettle\n\nBoils water over HTTP.\n',
  'package.json': '{"name":"kettle","description":"A kettle"}',
  'src/index.ts': 'export const boil = () => {\n  throw new Error("not implemented") // TODO: heat\n}\n',
  'src/deep/er/still.ts': `${'// filler\n'.repeat(200)}// FIXME leaks\n`,
  'docs/guide.md': 'How to boil.\n',
  'test/boil.test.ts': '',
  'node_modules/x/index.js': '// TODO in a dependency\n',
};

describe('the surveyor', () => {
  it('the surveyor walks a repository by its listings and reports what the repository contains', async () => {
    const root = folder(REPOSITORY);
    mkdirSync(path.join(root, 'hollow'));
    const done = await survey(workspace({ root }), 'Survey this folder and write the report to REPORT.md');
    const report = readFileSync(path.join(root, 'REPORT.md'), 'utf8');
    expect(report).toContain('6 files in');
    expect(report).toContain('`README.md`: Kettle: Boils water over HTTP.');
    expect(report).toContain('`package.json`: kettle: A kettle');
    expect(report).toMatch(/\| TypeScript \| 3 \|/);
    expect(report).toContain('`README.md`: 2024-01-01 00:00 UTC');
    expect(report).toContain('1 line with “TODO”');
    expect(report).toContain('1 line with “FIXME”');
    expect(report).toContain('`src/deep/er/still.ts:201`');
    expect(report).toContain('1 line with “not implemented”');
    expect(report).toContain('Empty files: `test/boil.test.ts`');
    expect(report).toContain('Empty folders: `hollow`');
    expect(report).toContain('Passed over: `node_modules`');
    expect(done.last).toBe(
      'I looked at 6 files and wrote the survey to REPORT.md. 3 lines call themselves unfinished.',
    );
    expect(done.calls.at(-1)).toBe('write_file REPORT.md');
    expect(Math.max(...done.batches)).toBeGreaterThan(2);
  });

  it('the surveyor makes other calls and another report for another folder', async () => {
    const one = folder(REPOSITORY);
    const two = folder({ 'notes/a.txt': 'alpha', 'notes/b.txt': 'beta', 'main.py': 'print(1)\n' });
    const surveys = [await survey(workspace({ root: one })), await survey(workspace({ root: two }))];
    const reports = [one, two].map((root) => readFileSync(path.join(root, 'SURVEY.md'), 'utf8'));
    expect(surveys[0]!.calls).not.toEqual(surveys[1]!.calls);
    expect(reports[0]).not.toEqual(reports[1]);
    expect(reports[1]).toContain('Python');
    expect(reports[1]).toContain('Nothing calls itself unfinished');
  });

  it('the surveyor makes the same calls, report and answer for the same folder, and ignores its own earlier report', async () => {
    const root = folder(REPOSITORY);
    const first = await survey(workspace({ root }));
    const report = readFileSync(path.join(root, 'SURVEY.md'), 'utf8');
    const second = await survey(workspace({ root }));
    expect(second.calls).toEqual(first.calls);
    expect(second.last).toBe(first.last);
    expect(readFileSync(path.join(root, 'SURVEY.md'), 'utf8').replace(/src\/.*|.*TODO.*/g, '')).toBe(
      report.replace(/src\/.*|.*TODO.*/g, ''),
    );
  });

  it.each([
    ['an empty folder', {}, 'The folder holds no files.'],
    ['a folder with one file', { 'only.txt': 'x' }, '1 file in 0 folders, 1 byte in all'],
    [
      'a folder of odd names',
      { 'two\nlines.md': 'TODO', 'a b/`c`.txt': 'x', '日本|語.txt': 'x' },
      '3 files in 1 folder',
    ],
  ])('the surveyor manages %s', async (_, files, expected) => {
    const root = folder(files);
    await survey(workspace({ root }));
    expect(readFileSync(path.join(root, 'SURVEY.md'), 'utf8')).toContain(expected);
  });

  it('the surveyor ends within its bounds on a wide and deep tree', async () => {
    const files: Record<string, string> = {};
    for (let i = 0; i < 60; i++) files[`wide${i}/${'d/'.repeat(i % 12)}f${i}.ts`] = `// TODO ${i}\n`;
    for (let i = 0; i < 300; i++) files[`flat/file-with-quite-a-long-name-${i}.txt`] = 'x';
    const root = folder(files);
    symlinkSync('..', path.join(root, 'wide1/up'));
    const done = await survey(workspace({ root }));
    expect(done.batches.length).toBeLessThanOrEqual(20);
    expect(Math.max(...done.batches)).toBeLessThanOrEqual(6);
    expect(new Set(done.calls.filter((call) => !call.startsWith('grep'))).size).toBe(
      done.calls.filter((call) => !call.startsWith('grep')).length,
    );
    const report = readFileSync(path.join(root, 'SURVEY.md'), 'utf8');
    expect(report).toMatch(/Listed in part: .*`flat`/);
    expect(report).toContain('60 lines with “TODO”');
  });

  it('the surveyor reports when it cannot write, cannot list, or has no tools', async () => {
    const root = folder(REPOSITORY);
    const readOnly = await survey(workspace({ root, readOnly: true }));
    expect(readOnly.last).toContain('I could not write SURVEY.md');
    expect(readOnly.last).toContain('# Survey');
    expect(readdirSync(root)).not.toContain('SURVEY.md');
    const gone = await survey(workspace({ root: path.join(root, 'gone') }));
    expect(gone.last).toContain('The folder could not be listed.');
    expect((await survey([])).last).toContain('The folder could not be listed.');
  });

  it('the surveyor repeats a call without a result once, and no more', async () => {
    const root = folder(REPOSITORY);
    let calls = 0;
    // Every other call is lost, as after a crash.
    const flaky = workspace({ root }).map((tool) => ({
      ...tool,
      run: async (...call: Parameters<Tool['run']>) =>
        calls++ % 2 === 0 ? 'No result of this call was recorded.' : tool.run(...call),
    }));
    const done = await survey(flaky);
    expect(done.batches.length).toBeLessThanOrEqual(20);
    expect(readFileSync(path.join(root, 'SURVEY.md'), 'utf8')).toContain('Kettle');
  });

  it('the surveyor answers a question after the survey without starting again', async () => {
    const root = folder(REPOSITORY);
    const tools = workspace({ root });
    const done = await survey(tools);
    const messages = [...done.messages, { role: 'user', content: 'Thank you. Where is it?' }];
    const { text } = await ask(requestOf(messages, tools));
    expect(text).toContain('SURVEY.md');
    expect(text).not.toContain('tool_calls"');
  });
});

describe('the server', () => {
  const tools = workspace({ root: '.' });

  it('the server answers the same request with the same bytes, also from the server of another process', async () => {
    const other = await startModelServer();
    const body = JSON.stringify(requestOf([{ role: 'user', content: 'Survey.' }], tools));
    const answers = await Promise.all(
      [server, server, other].map(async ({ baseUrl }) =>
        (await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body })).text(),
      ),
    );
    await other.close();
    expect(new Set(answers).size).toBe(1);
    const parsed = JSON.parse(answers[0]!) as { usage: object; choices: object[] };
    expect(parsed).toMatchObject({
      object: 'chat.completion',
      choices: [{ finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: Math.ceil(Buffer.byteLength(body) / 4) },
    });
  });

  const user = { role: 'user', content: 'x' };
  const call = { id: 'a', type: 'function', function: { name: 'grep', arguments: '{}' } };
  const asked = { role: 'assistant', content: null, tool_calls: [call] };
  it.each([
    ['no messages', { messages: [] }],
    ['no list', { messages: 'x' }],
    ['an orphan result', { messages: [user, { role: 'tool', tool_call_id: 'a', content: 'x' }] }],
    ['a call without a result', { messages: [user, asked, user] }],
    ['a call without a result at the end', { messages: [user, asked] }],
    [
      'arguments that are no object',
      { messages: [{ ...asked, tool_calls: [{ ...call, function: { name: 'grep', arguments: '[]' } }] }] },
    ],
    [
      'arguments that are no JSON',
      { messages: [{ ...asked, tool_calls: [{ ...call, function: { name: 'grep', arguments: '{' } }] }] },
    ],
    ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['content that is no text', { messages: [{ role: 'user', content: [] }] }],
    ['null', null],
  ])('the server refuses %s with 400, as a provider does', async (_, body) => {
    const { status, text } = await ask(body);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String) } });
  });

  it('the server streams the same answer when the request wants a stream', async () => {
    const body = requestOf([{ role: 'user', content: 'Survey this folder.' }], workspace({ root: '.' }));
    const whole = JSON.parse((await ask(body)).text) as { choices: { message: Message }[] };
    const { text } = await ask({ ...body, stream: true });
    const pieces = text.split('\n\n').filter((line) => line !== '' && line !== 'data: [DONE]');
    const deltas = pieces.flatMap((line) => {
      const piece = JSON.parse(line.slice('data: '.length)) as { choices: { delta: Message }[] };
      return piece.choices.map(({ delta }) => delta);
    });
    const args = deltas.flatMap(({ tool_calls = [] }) => tool_calls).map((call) => call.function.arguments);
    expect(args.join('')).toBe(whole.choices[0]?.message.tool_calls?.map((call) => call.function.arguments).join(''));
  });

  it('the server serves its models and nothing else', async () => {
    expect(await (await fetch(`${server.baseUrl}/models`)).json()).toMatchObject({ data: [{ id: 'surveyor-1' }] });
    expect((await fetch(`${server.baseUrl}/nothing`)).status).toBe(404);
    const garbage = await fetch(`${server.baseUrl}/chat/completions`, { method: 'POST', body: '{' });
    expect(garbage.status).toBe(400);
  });
});
