import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { agentApp, appOf } from '@reprise/agent';
import { defineApp, openKernelWorld } from '@reprise/kernel';
import { QUEUE, queue } from '@reprise/org/contracts';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { allPackages } from '../src/world/built-in.js';
import { run } from './run.js';
import { freshFolder } from './worlds.js';

const PACKAGES = fileURLToPath(new URL('../..', import.meta.url));

const folder = freshFolder();
afterAll(() => folder.remove());

/** The definitions that the modules of a package export. */
async function definitionsOf(name: string): Promise<string[]> {
  const files = readdirSync(`${PACKAGES}/${name}/src`, { recursive: true, encoding: 'utf8' });
  const names: string[] = [];
  for (const file of files.filter((one) => one.endsWith('.ts'))) {
    const path = `${PACKAGES}/${name}/src/${file}`;
    if (!/\bdefine(?:Reducer|Plan)\(/.test(readFileSync(path, 'utf8'))) continue;
    for (const thing of Object.values((await import(pathToFileURL(path).href)) as Record<string, unknown>)) {
      const { type, name: wireName } = (thing ?? {}) as { readonly type?: unknown; readonly name?: unknown };
      if (type === 'reducer' || type === 'plan') names.push(String(wireName));
    }
  }
  return names;
}

describe('the built-in app', () => {
  it('the built-in app has every reducer and plan that a published package exports', async () => {
    const { app } = await allPackages();
    const versions = [...app.reducers.values()].flatMap(({ lineage = [] }) => lineage.map(({ name }) => name));
    const known = [...app.reducers.keys(), ...versions, ...app.plans.keys()];
    // Definitions of the kernel are in every app; those of the test kit are for tests.
    for (const name of readdirSync(PACKAGES).filter((one) => !['kernel', 'testkit'].includes(one)))
      for (const definition of await definitionsOf(name))
        expect({ name, known }).toMatchObject({ known: expect.arrayContaining([definition]) });
    expect((await definitionsOf('org')).length).toBeGreaterThanOrEqual(4);
    expect((await definitionsOf('agent')).length).toBeGreaterThanOrEqual(7);
  });

  it.each([
    ['of queues alone', defineApp({ reducers: [queue] })],
    ['of agents and queues', appOf([{ name: 'queues', reducers: [queue], handle: () => undefined }], agentApp)],
  ])('reprise verify and show need no --app for a world %s', async (name, app) => {
    const path = folder.file(`${name}.db`);
    {
      await using world = await openKernelWorld({ store: sqlite(path), app });
      await world.request([QUEUE, 'line'], { name: 'flow/OpenQueue@1', value: { limit: 2, paused: false } });
    }
    const { code, out } = await run('verify', path);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('replayed, identical') });
    expect(out).toContain(
      'replayed with @reprise/agent, @reprise/org, @reprise/server, @reprise/society, @reprise/specialists, @reprise/tree and @reprise/webhooks:',
    );
    expect(JSON.parse((await run('verify', path, '--json')).out)).toMatchObject({ lacking: [], unverified: 0 });
    const shown = await run('show', path, `${QUEUE}/line`);
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toContain('"limit": 2');
  });
});
