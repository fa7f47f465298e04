/** The package of test tools, which only development installs: without it, an entry for tests says what to install. */
import { missingPackage } from '@reprise/contracts';

/** Loads a module of the testkit. @throws RepriseError `runtime_unsupported` where it is not installed */
export async function testkit<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw missingPackage(error, { what: 'Tests of worlds', name: 'fast-check', dev: true });
  }
}
