/** The library of the protocol, which only programs that serve install: it is loaded when something is served. */
import { missingPackage } from '@reprise/contracts';

/** Loads a module that needs the library. @throws RepriseError `runtime_unsupported` where it is not installed */
export async function withLibrary<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw missingPackage(error, { what: 'MCP clients of a world', name: '@modelcontextprotocol/server' });
  }
}
