import { defineApp } from '@reprise/kernel';
import { ledger2 } from './ledger-2.js';

/** The second version with a migration that does not fit. */
export const app = defineApp({
  reducers: [
    { ...ledger2, lineage: (ledger2.lineage ?? []).map((one) => ({ ...one, migrate: () => ({ total: 'many' }) })) },
  ],
});
