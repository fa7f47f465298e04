/** A society that sets the rights of an agent in the delivery that makes it, where the kernel refuses them. */
import type { ReducerContext, ReducerDefinition } from 'reprise/kernel';
import { society } from 'reprise/society';

/** Begins the tags of what is sent while a cell is made with rights. */
const MAKING = 'making:';

/** The society with the mistake. */
export function rightsSetWhileMaking(): ReturnType<typeof society> {
  const part = society();
  const reducers = (part.reducers ?? []).map((one) => (one.name === 'society/Entity@1' ? early(one) : one));
  return { ...part, reducers };
}

function early(reducer: ReducerDefinition): ReducerDefinition {
  const { reduce } = reducer;
  return { ...reducer, reduce: (draft, event, ctx) => reduce(draft, event, hasty(ctx)) };
}

function hasty(ctx: ReducerContext): ReducerContext {
  const send: ReducerContext['send'] = (to, event, options) => {
    ctx.send(to, event, options);
    if (options?.tag?.startsWith(MAKING) !== true) return;
    const at = options.tag.slice(MAKING.length);
    const { rights } = ctx.table('making').get(at) as unknown as { readonly rights: object };
    ctx.command('sys/SetRights@1', { holder: `cell:${at}`, ...rights } as never);
  };
  const command: ReducerContext['command'] = (name, value, options) => {
    if (options?.tag?.startsWith(MAKING) !== true) ctx.command(name, value, options);
  };
  return new Proxy(ctx, {
    get(target, name) {
      if (name === 'send') return send;
      if (name === 'command') return command;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
