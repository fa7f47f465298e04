import { defineApp } from '@reprise/kernel';

/** An app without the ledger. */
export const app = defineApp({ reducers: [] });
