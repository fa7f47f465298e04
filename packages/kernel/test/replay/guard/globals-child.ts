/** A process that replays a world and then says which globals are others than before anything of ours was loaded. */

/** What hangs on an object, by name, one level deep. */
function partsOf(owner: object): ReadonlyMap<string, unknown> {
  return new Map(
    Object.getOwnPropertyNames(owner).flatMap((name) => {
      const found = Object.getOwnPropertyDescriptor(owner, name);
      return [['value', found?.value] as const, ['get', found?.get] as const].map(([part, it]) => [
        `${name}.${part}`,
        it,
      ]);
    }),
  );
}

const OWNERS: Readonly<Record<string, object>> = {
  ...{ globalThis, Date, Math, Object, Array, String, Number, Promise, Intl, performance, crypto, console, process },
  ...Object.fromEntries(
    [Date, Object, Array, String, Number, RegExp, Promise, Map, Set].map((owner) => [
      `${owner.name}.prototype`,
      owner.prototype as object,
    ]),
  ),
};

// Some globals of Node are made when they are first looked at.
for (const name of Object.getOwnPropertyNames(globalThis)) Reflect.get(globalThis, name);

const snapshot = () =>
  new Map(
    Object.entries(OWNERS).flatMap(([owner, it]) => [...partsOf(it)].map(([name, part]) => [`${owner}.${name}`, part])),
  );

const before = snapshot();
const { creates, defineApp, defineReducer, memory, openKernelWorld } = await import('../../../src/index.js');
const { installGuard } = await import('../../../src/replay/guard/index.js');
const z = await import('zod');
const counter = defineReducer({
  name: 'law/Counter@1',
  state: z.strictObject({ n: z.int() }),
  events: { 'law/Counted@1': creates(z.strictObject({})) },
  init: () => ({ n: 0 }),
  reduce(draft) {
    draft.n++;
  },
});
const world = await openKernelWorld({ store: memory(), app: defineApp({ reducers: [counter] }), recheckEvery: 1 });
await world.request(['law/Counter@1', 'a'], { name: 'law/Counted@1', value: {} });
await world.verify();
await world.close();
const unasked = othersThan(snapshot());
installGuard();
process.stdout.write(JSON.stringify({ unasked, asked: othersThan(snapshot()).length }));

function othersThan(now: ReturnType<typeof snapshot>): string[] {
  return [...before.keys()].filter((name) => !Object.is(before.get(name), now.get(name)));
}
