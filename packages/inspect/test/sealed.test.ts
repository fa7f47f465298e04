/** Every question on a world in PostgreSQL whose content is sealed: with its keys and without. */
import { moveWorld } from '@reprise/kernel';
import { fileKeys, postgres } from '@reprise/store-postgres';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeScene } from '../../cli/test/operators/scene.js';
import { run } from '../../cli/test/run.js';
import { freshFolder } from '../../cli/test/worlds.js';
import { describePostgres } from '../../store-postgres/test/describe-postgres.js';
import { openPage, QUESTIONS } from './page.js';

describePostgres('the page of a world whose content is sealed', (own) => {
  const folder = freshFolder();
  const [file, keys] = [folder.file('scene.db'), folder.file('keys')];
  const before = process.env.REPRISE_KEYS;
  beforeAll(async () => {
    await makeScene(file);
    await using database = postgres(own.url, { keys: fileKeys(keys) });
    await moveWorld(sqlite(file), database.world('scene'));
  });
  afterAll(() => {
    named(before);
    folder.remove();
  });
  const named = (given: string | undefined): void => {
    if (given === undefined) delete process.env.REPRISE_KEYS;
    else process.env.REPRISE_KEYS = given;
  };
  const world = () => `${own.url}#scene`;

  it('each question has the same answer as in a file, where the keys are named', async () => {
    await using database = postgres(own.url, { keys: fileKeys(keys) });
    const [sealed, plain] = [await openPage(database.world('scene')), await openPage(file)];
    let blobs = 0;
    for (const [name, query] of Object.entries(QUESTIONS)) {
      const path = `/api/${name}?${query.replace('sha256:DIGEST', await digestIn(file))}`;
      const [own, other] = [await sealed.ask(path), await plain.ask(path)];
      expect({ path, status: own.status, text: same(own.text) }).toEqual({
        path,
        status: other.status,
        text: same(other.text),
      });
      if (name === 'blob') blobs += own.status === 200 ? 1 : 0;
    }
    expect(blobs).toBe(1);
    for (const page of [sealed, plain]) await page.close();
  });

  it('a question that needs content names the keys that are missing, and each other one is answered', async () => {
    await using database = postgres(own.url);
    const [sealed, plain] = [await openPage(database.world('scene')), await openPage(file)];
    const refused: string[] = [];
    for (const [name, query] of Object.entries(QUESTIONS)) {
      const path = `/api/${name}?${query.replace('sha256:DIGEST', await digestIn(file))}`;
      const [{ status, json, text }, other] = [await sealed.ask(path), await plain.ask(path)];
      if (status === other.status && text === other.text) continue;
      expect({ name, status, json }).toMatchObject({
        ...{ name, status: 500 },
        json: { code: 'store_failed', hint: expect.stringContaining('REPRISE_KEYS') },
      });
      refused.push(name);
    }
    expect(refused).toEqual(['world', 'now', 'waiting', 'prompt', 'team', 'blob', 'search']);
    for (const page of [sealed, plain]) await page.close();
  });

  it('the command reads its frames without the keys, and names the variable where it needs content', async () => {
    const results: string[] = [];
    for (const given of [undefined, keys]) {
      named(given);
      for (const args of [
        ['log', world()],
        ['tail', world()],
        ['prompt', world(), 'last'],
        ['fork', world(), '12', '--into', folder.file(given === undefined ? 'unfinished.db' : 'copy.db')],
        ['move', world(), folder.file('moved.db')],
      ]) {
        const { code, out, err } = await run(...args);
        const says = `${out}${err}`.includes('REPRISE_KEYS') ? 'says REPRISE_KEYS' : code;
        results.push(`${args[0]} ${given === undefined ? 'without' : 'with'}: ${says}`);
      }
    }
    expect(results).toEqual([
      ...['log without: 0', 'tail without: 0', 'prompt without: says REPRISE_KEYS'],
      ...['fork without: says REPRISE_KEYS', 'move without: says REPRISE_KEYS'],
      ...['log with: 0', 'tail with: 0', 'prompt with: 0', 'fork with: 0', 'move with: 0'],
    ]);
  });
});

/** A content of the world of a file. */
async function digestIn(file: string): Promise<string> {
  const store = (await sqlite(file).openReadonly?.()) ?? expect.fail('it has no readers');
  try {
    for await (const ref of store.content.list()) return ref.toString();
    return expect.fail('it has no content');
  } finally {
    await store.close();
  }
}

/** Without what tells one store from another. */
function same(text: string): string {
  return text.replaceAll(/"(?:path|file|label)":"[^"]*"/g, '');
}
