/** The inbox of an entity as a resource: clients that follow it are told when something arrives. */
import type { ServedResource } from '@reprise/agent';
import type { ValueMap } from '@reprise/contracts';
import { ENTITY } from '../pure/index.js';
import { eventOf } from './shown.js';

const URI = 'society://inbox/';

/** The rows of a page of an inbox: all that it may hold. */
const ROWS = 256;

/** `society://inbox/{id}`: the events that wait for an entity, the oldest first. Only that entity reads them. */
export const inboxResource: ServedResource = {
  uri: `${URI}{id}`,
  name: 'The inbox of an entity',
  mediaType: 'application/json',
  async read(view, uri) {
    const id = uri.slice(URI.length);
    const own = view.principal === `human:${id}` || view.principal === `cell:${ENTITY}/${id}`;
    if (!own || (await view.state([ENTITY, id])) === undefined) return undefined;
    const rows = await view.table([ENTITY, id], 'inbox', { limit: ROWS });
    const events = rows.map(([n, row]) => eventOf({ ...(row as ValueMap), n: Number(n) }));
    return new TextEncoder().encode(JSON.stringify({ events }));
  },
  changed: ({ records }) => {
    const found = records.flatMap((record) => {
      if (record.kind !== 'fact' || record.name !== 'society/Noticed@1' || record.from?.[0] !== ENTITY) return [];
      const { push } = record.value as { readonly push?: boolean };
      return push === true ? [`${URI}${record.from[1]}`] : [];
    });
    return [...new Set(found)];
  },
};
