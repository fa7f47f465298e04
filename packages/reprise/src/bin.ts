#!/usr/bin/env node
// The command, for who installs the one package: `npx reprise verify world.db`.
import module from 'node:module';

// Node 22.8 and newer keep what they have compiled for the next start; it has to be asked for before anything is loaded.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
const { runProcess } = await import('@reprise/cli');

await runProcess();
