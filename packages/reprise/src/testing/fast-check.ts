/** What draws random values for tests, which only development installs: without it, an entry for tests says what to install. */
import { missingPackage } from '@reprise/contracts';

/** Loads a module that draws random values. @throws RepriseError `runtime_unsupported` where fast-check is not installed */
export async function withFastCheck<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw missingPackage(error, { what: 'Suites of checks', name: 'fast-check', dev: true });
  }
}
