/** The model of written rules: it reads real folders by real tools, in a small stand-in for a tree. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tool } from '@reprise/agent';
import type { ScriptRequest } from '@reprise/providers';
import { workspace } from '@reprise/tools';
import { afterAll, describe, expect, it } from 'vitest';
import { nextStep } from '../../src/tree/rules/rules-model.js';
import { freshFolder } from '../worlds.js';

const SMALL = fileURLToPath(new URL('../../../ui', import.meta.url));
const LONG_MS = 60_000;
const folder = freshFolder();
afterAll(() => folder.remove());

type Message = ScriptRequest['messages'][number];

/** A stand-in for a tree: nodes one after another, each with the tools of a folder. */
class Stand {
  readonly nodes: { readonly goal: string; readonly result: unknown; readonly calls: readonly string[] }[] = [];
  readonly answers: string[] = [];
  usage = 0;
  readonly #tools: readonly Tool[];

  constructor(
    root: string,
    private readonly resultSchema: object = { type: 'string' },
  ) {
    this.#tools = workspace({ root, readOnly: true });
  }

  async run(goal: string, prompt: string, level = 0): Promise<unknown> {
    const messages: Message[] = [{ role: 'user', text: `You are node #1.\n\n## Task\n\n${prompt}` }];
    const calls: string[] = [];
    for (let generation = 0; generation < 3; generation++) {
      const children: { goal: string; prompt: string }[] = [];
      let result: unknown;
      for (let step = 0; step < 12; step++) {
        const answer = nextStep(this.#request(messages, level));
        messages.push({
          role: 'assistant',
          text: answer.text ?? '',
          ...(answer.calls ? { calls: answer.calls as never } : {}),
        });
        if (answer.calls === undefined) break;
        for (const { tool, args } of answer.calls) {
          calls.push(tool);
          if (tool === 'spawn') children.push(args as never);
          if (tool === 'complete') result = (args as { result: unknown }).result;
          messages.push({ role: 'tool', text: await this.#answer(tool, args as never), isError: false });
        }
      }
      if (children.length === 0) {
        this.nodes.push({ goal, result, calls });
        return result;
      }
      const results: string[] = [];
      for (const [i, child] of children.entries())
        results.push(`<said by="#${i + 2} result">\n${await this.run(child.goal, child.prompt, level + 1)}\n</said>`);
      messages.push({
        role: 'user',
        text: `## Results of your children\n\n${results.join('\n\n')}\n\n## Task\n\n${prompt}`,
      });
    }
    throw new Error('no end');
  }

  async #answer(name: string, args: Record<string, unknown>): Promise<string> {
    if (name === 'ask') return JSON.stringify({ ask_id: 9, status: 'answered', answer: this.answers.shift() });
    const tool = this.#tools.find((one) => one.name === name);
    if (tool === undefined) return JSON.stringify({ accepted: true, node_id: 2 });
    const checked = await (tool.args as never as { parseAsync(a: unknown): Promise<unknown> }).parseAsync(args);
    return String(await tool.run(checked as never, { signal: new AbortController().signal } as never));
  }

  #request(messages: readonly Message[], level: number): ScriptRequest {
    const names = [...this.#tools.map(({ name }) => name), 'complete', 'ask', ...(level < 2 ? ['spawn'] : [])];
    const schema = { type: 'object', properties: { result: this.resultSchema } };
    const tools = names.map((name) => ({ name, description: '', schema: name === 'complete' ? schema : {} }));
    return { system: '', messages, tools: names, last: '', unified: { tools } as never };
  }
}

/** The names in a report that look like files. */
function filesNamedIn(report: unknown): string[] {
  return [...String(report).matchAll(/[\w@./-]*\w\.(?:[cm]?[jt]sx?|json|md|mjs|txt|ya?ml|html|css)\b/g)].map(
    ([name]) => name,
  );
}

function makeShop(): string {
  const root = folder.file('shop');
  for (const [path, text] of Object.entries({
    'README.md': '# Shop\n\nSells tea, see the missing.md for more. Orders are priced in cents.\n',
    'src/price.js': '/** What an order costs, in cents. */\nexport function total(items) { return items.length; }\n',
    'src/stock.js': '// How much is left of each tea.\nexport const stock = new Map();\n',
    'test/price.test.js': 'import { total } from "../src/price.js"; // discount is not tested\n',
  })) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

describe('the model of rules', () => {
  it('the model of rules splits a folder into its parts, reads each, and names only files that exist', {
    timeout: LONG_MS,
  }, async () => {
    const stand = new Stand(SMALL);
    const report = await stand.run('What does this code do?', 'What does this code do?');
    expect(stand.nodes.length).toBeGreaterThan(3);
    expect(stand.nodes.map(({ goal }) => goal)).toEqual(expect.arrayContaining(['Look at src']));
    for (const { calls } of stand.nodes.slice(0, -1)) expect(calls).toContain('grep');
    const named = filesNamedIn(report);
    expect(named.length).toBeGreaterThan(8);
    for (const name of named) expect({ name, exists: existsSync(join(SMALL, name)) }).toEqual({ name, exists: true });
    expect(report).toContain('`src`');
  });

  it('the model of rules gives other findings for another folder and for another goal', async () => {
    const root = makeShop();
    const about = async (goal: string) => String(await new Stand(root).run(goal, goal));
    const [price, tea] = [await about('Where is the discount decided?'), await about('What is known of tea?')];
    expect(price).toContain('“discount” stands in 1 file: `test/price.test.js`:1');
    expect(price).not.toContain('“tea”');
    expect(tea).toContain('“tea” stands in');
    expect(tea).toContain('`src/stock.js` (');
    expect(tea).toContain('What an order costs, in cents.');
    for (const name of filesNamedIn(tea)) expect(existsSync(join(root, name))).toBe(true);
  });

  it('the model of rules asks people which part matters when the goal wants to be asked, and looks at that part only', async () => {
    const stand = new Stand(makeShop());
    stand.answers.push('src');
    const report = await stand.run('Survey', 'Say what is here. Ask me which part matters.');
    expect(stand.nodes.map(({ goal }) => goal)).toEqual(['Look at src', 'Survey']);
    expect(report).not.toContain('price.test.js');
  });

  it.each([
    [{ type: 'boolean' }, true],
    [{ type: 'array' }, expect.arrayContaining(['src/price.js', 'README.md'])],
    [{ type: 'object' }, { report: expect.any(String), files: expect.any(Array) }],
    [{ type: 'string', description: 'The path of a file' }, 'src/price.js'],
  ])('the model of rules gives a result of the type that its node has: %j', async (schema, expected) => {
    expect(await new Stand(makeShop(), schema).run('Orders', 'Which files are about orders?', 2)).toEqual(expected);
  });

  it('the model of rules ends in an empty folder, and says that no files were found', async () => {
    mkdirSync(folder.file('empty'));
    expect(await new Stand(folder.file('empty')).run('Go', 'What is here?')).toContain('no files were found');
  });
});
