/** The folder of `--demo`: a shopping cart with a mistake in it, and a failing test. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'cart', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'README.md': '# Cart\n\nWhat an order costs, in cents. `npm test` runs the tests.\n',
  'src/cart.js': `/** The sum of an order, in cents. */
export function total(items) {
  let sum = 0;
  for (const { price, count } of items) sum += price * count;
  return sum;
}

/** What shipping costs: nothing for orders of 50.00 and more. */
export function shipping(items) {
  return total(items) > 5000 ? 0 : 490;
}
`,
  'test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shipping, total } from '../src/cart.js';

test('an order costs the sum of its items', () => {
  assert.equal(total([{ price: 250, count: 3 }, { price: 99, count: 1 }]), 849);
});

test('a small order pays for its shipping', () => {
  assert.equal(shipping([{ price: 250, count: 3 }]), 490);
});

test('an order of exactly 50.00 is shipped for nothing', () => {
  assert.equal(shipping([{ price: 2500, count: 2 }]), 0);
});
`,
};

/** A suggested message to the agent in the demo folder. */
export const DEMO_TASK = 'One of the tests fails. Find out why, and fix it.';

/** Creates a folder with the demo's files. */
export async function writeDemo(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(FILES)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
