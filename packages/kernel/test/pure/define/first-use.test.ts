import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  appOnUse,
  defineApp,
  defineEffect,
  defineReducer,
  effectOnUse,
  reducerOnUse,
} from '../../../src/pure/define/index.js';
import * as provided from '../../../src/serve/views/provided/index.js';

const counter = () =>
  defineReducer({
    name: 'demo/Counter@1',
    state: z.strictObject({ n: z.int() }),
    events: { 'demo/Added@1': z.strictObject({ by: z.int() }) },
    init: () => ({ n: 0 }),
    reduce: () => undefined,
  });

describe('a definition that is made when it is first used', () => {
  it('the definition is made once, by the first reading of more than its name, and equals the one made at once', () => {
    let made = 0;
    const lazy = reducerOnUse('demo/Counter@1', () => {
      made++;
      return counter();
    });
    expect([lazy.type, lazy.name, made]).toEqual(['reducer', 'demo/Counter@1', 0]);
    expect(lazy.digest).toBe(counter().digest);
    expect(lazy.state).toEqual(counter().state);
    expect(made).toBe(1);
    expect(Object.keys(lazy).sort()).toEqual(Object.keys(counter()).sort());
    expect(Object.isFrozen(lazy)).toBe(true);
  });

  it('an app takes such definitions like others, and may be one', () => {
    const app = appOnUse(() => defineApp({ reducers: [reducerOnUse('demo/Counter@1', counter)] }));
    expect([...app.reducers.keys()]).toEqual(['demo/Counter@1']);
    expect(Object.hasOwn(app, 'policy')).toBe(false);
    expect({ ...app }.plans.size).toBe(0);
  });

  it('a definition with a mistake throws the same error each time it is used', () => {
    const wrong = effectOnUse('demo.pay@1', () =>
      defineEffect({ kind: 'demo.pay@1', params: z.date(), receipt: z.null() }),
    );
    expect(() => wrong.digest).toThrow('invalid_schema');
    expect(() => wrong.params).toThrow('invalid_schema');
  });

  it.each(Object.entries(provided).filter(([, view]) => 'fold' in view))(
    'the view %s is made under the name that it has before',
    (_, view) => {
      const { name } = view;
      expect(view.digest).toMatch(/^[0-9a-f]{64}$/);
      expect(view.name).toBe(name);
    },
  );
});
