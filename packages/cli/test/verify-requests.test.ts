/** `reprise verify --requests`: a file, a module, no key and no network. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openWorld } from 'reprise';
import { sqlite } from 'reprise/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mockProvider, watched } from '../../../conformance/profiles/mock-provider.js';
import { singleTool } from '../../../conformance/scenarios/matrix/single-tool.js';
import { teach } from '../../../conformance/scenarios/mock.js';
import { run } from './run.js';

const folder = mkdtempSync(join(tmpdir(), 'reprise-requests-'));
const file = join(folder, 'world.db');
const moduleAt = (name: string) => fileURLToPath(new URL(`apps/${name}`, import.meta.url));

beforeAll(async () => {
  const mock = await mockProvider();
  teach(mock, singleTool.says, Promise.resolve());
  const models = { main: watched('openai-responses', mock).client };
  await using world = await openWorld({ store: sqlite(file), models, agents: singleTool.agents });
  await (await world.session('s', singleTool.agents[0]).send('Go.')).result();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the requests of a world in a file', () => {
  it('requests rebuilt with the models of a module equal the sent requests [MOD-12]', async () => {
    const { code, out, err } = await run('verify', file, '--requests', moduleAt('requests.ts'));
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('the requests of 2 model calls equal the bytes that were sent\n');
    const json = await run('verify', file, '--requests', moduleAt('requests.ts'), '--json');
    expect(JSON.parse(json.out)).toMatchObject({ ok: true, requests: { equal: 2, uncompared: 0 } });
  });

  it('a model that writes other requests gives a finding', async () => {
    const { code, err } = await run('verify', file, '--requests', moduleAt('requests-of-another.ts'));
    expect(code).toBe(1);
    expect(err).toContain('request_differs');
  });

  it('a module without models, or a file that is not a module, is wrong usage', async () => {
    for (const name of ['nothing.ts', 'absent.ts']) {
      const { code, err } = await run('verify', file, '--requests', moduleAt(name));
      expect([name, code]).toEqual([name, 2]);
      expect(err).toContain('invalid_argument');
    }
  });
});
