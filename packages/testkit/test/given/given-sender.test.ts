/** Events that a cell sends, in tests of one reducer: declared senders are checked as in a world. */
import { by, creates, defineReducer, from } from '@reprise/kernel';
import { givenReducer } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const depot = defineReducer({
  name: 'shop/Depot@1',
  state: z.strictObject({ grams: z.int() }),
  tables: { parcels: z.int() },
  events: {
    'shop/Opened@1': creates(from(z.strictObject({ parcel: z.string() }), by.outside)),
    'shop/Arrived@1': from(z.strictObject({}), by.row('parcels', { reducer: 'shop/Parcel@1' })),
    'shop/Counted@1': from(z.strictObject({ by: z.int() }), by.self),
  },
  init: () => ({ grams: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'shop/Opened@1') ctx.table('parcels').set(event.value.parcel, 40);
    else if (event.name === 'shop/Arrived@1')
      ctx.send(ctx.address, { name: 'shop/Counted@1', value: { by: event.row } });
    else if (event.value.by < 0) throw new Error('no parcel weighs less than nothing');
    else draft.grams += event.value.by;
  },
});
const opened = { name: 'shop/Opened@1', value: { parcel: 'p1' } };
const arrived = (key: string, reducer = 'shop/Parcel@1') =>
  ({ name: 'shop/Arrived@1', value: {}, from: [reducer, key] as [string, string] }) as const;
const given = () => givenReducer(depot).events(opened);

describe('given an event of a cell', () => {
  it('the reducer takes an event from a sender that the reducer declares, and hands on its row', () => {
    given()
      .when(arrived('p1'))
      .then({
        state: { grams: 40 },
        facts: [],
        sends: [{ to: ['shop/Depot@1', 'given'], name: 'shop/Counted@1', value: { by: 40 } }],
      });
  });

  it.each([
    ['another key of the same reducer', arrived('p2')],
    ['a foreign reducer with the same key', arrived('p1', 'shop/Other@1')],
    ['the outside', { name: 'shop/Arrived@1', value: {} }],
  ])('the reducer rejects an event from %s', (_who, event) => {
    given()
      .when(event)
      .then({ rejected: 'not_yours', state: { grams: 0 } });
  });

  it('the tested cell itself sends an event, and its fault is named', () => {
    const counted = (by: number) => ({
      name: 'shop/Counted@1',
      value: { by },
      from: ['shop/Depot@1', 'given'] as [string, string],
    });
    given()
      .when(counted(3))
      .then({ state: { grams: 3 }, facts: [], sends: [] });
    given().when(counted(-3)).then({ fault: 'threw' });
    given()
      .when({ name: 'shop/Counted@1', value: { by: 3 } })
      .then({ rejected: 'not_yours' });
  });

  it('an earlier event that was rejected ends the test with its name', () => {
    expect(() => givenReducer(depot).events(opened, arrived('p2')).when(opened).then({})).toThrow(
      'the given event shop/Arrived@1 was refused',
    );
  });
});
