#!/usr/bin/env node
// The command, for who installs the one package: `npx reprise verify world.db`.
import { runProcess } from '@reprise/cli';

await runProcess();
