import { defineApp } from '@reprise/kernel';
import { ledger2 } from './ledger-2.js';

const [forebear] = ledger2.lineage ?? [];

/** The second version without the first. */
export const app = defineApp({
  reducers: [{ ...ledger2, lineage: [{ name: 'demo/Ledger@1', migrate: (old) => forebear?.migrate(old) }] }],
});
