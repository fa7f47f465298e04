/** Every entry of the package, by name. A test compares the list with `exports`. */
import * as main from 'reprise';
import * as allExternal from 'reprise/external';
import * as allFleet from 'reprise/fleet';
import * as allHistory from 'reprise/history';
import * as allHost from 'reprise/host';
import * as allKernel from 'reprise/kernel';
import * as allMcp from 'reprise/mcp';
import * as allOperators from 'reprise/operators';
import * as allOrg from 'reprise/org';
import * as allOtel from 'reprise/otel';
import * as allProviders from 'reprise/providers';
import * as allSandbox from 'reprise/sandbox';
import * as allServer from 'reprise/server';
import * as allSociety from 'reprise/society';
import * as allSpecialists from 'reprise/specialists';
import * as allSqlite from 'reprise/sqlite';
import * as allTerminal from 'reprise/terminal';
import * as allTesting from 'reprise/testing';
import * as allTestingPorts from 'reprise/testing/ports';
import * as allTestingSimulator from 'reprise/testing/simulator';
import * as allTools from 'reprise/tools';
import * as allTree from 'reprise/tree';
import * as allTreeServe from 'reprise/tree/serve';
import * as allUi from 'reprise/ui';
import * as allVerify from 'reprise/verify';
import * as allWebhooks from 'reprise/webhooks';

export const ENTRIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  reprise: main,
  'reprise/kernel': allKernel,
  'reprise/sqlite': allSqlite,
  'reprise/providers': allProviders,
  'reprise/tools': allTools,
  'reprise/ui': allUi,
  'reprise/external': allExternal,
  'reprise/mcp': allMcp,
  'reprise/server': allServer,
  'reprise/testing': allTesting,
  'reprise/testing/ports': allTestingPorts,
  'reprise/testing/simulator': allTestingSimulator,
  'reprise/host': allHost,
  'reprise/fleet': allFleet,
  'reprise/org': allOrg,
  'reprise/tree': allTree,
  'reprise/tree/serve': allTreeServe,
  'reprise/specialists': allSpecialists,
  'reprise/society': allSociety,
  'reprise/sandbox': allSandbox,
  'reprise/verify': allVerify,
  'reprise/history': allHistory,
  'reprise/operators': allOperators,
  'reprise/otel': allOtel,
  'reprise/webhooks': allWebhooks,
  'reprise/terminal': allTerminal,
};
