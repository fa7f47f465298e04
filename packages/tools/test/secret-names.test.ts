/** Which names count as names of secret files, and which must stay readable. */
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../scripts/lib/cpu.js';
import { isSecretPath } from '../src/workspace/folder/secret-names.js';
import { sandbox } from './sandbox.js';

const SECRET = [
  ...['.env', '.env.local', '.env.production', '.ENV', 'prod.env', '.envrc', '.env.bak', '.env~', '.flaskenv'],
  ...['secrets.json', 'secret.yaml', 'Secrets.yml', 'secrets.toml', 'app-secrets.json', 'prod.secrets.env', '.secrets'],
  ...['secrets.yml.enc', '.secrets.toml', '.streamlit/secrets.toml', 'secrets', 'config/credentials.yml.enc'],
  ...['credentials', 'credentials.json', 'credentials.csv', 'aws_credentials', 'application_default_credentials.json'],
  ...['gcp-credentials-prod.json', '.credentials.json', 'passwords.txt', 'password.txt', 'api_keys.json', 'apikey.txt'],
  ...['service-account.json', 'service_account.json', 'my-service-account-key.json', 'serviceAccountKey.json'],
  ...['serviceaccount.json', 'app-firebase-adminsdk-x1.json', 'client_secret_123.json', 'client-secrets.json'],
  ...['vault-token', '.secret', 'secrets.json.gz', 'secrets.tar.gz', 'secrets.zip', 'secrets.json (copy)', '.env.tgz'],
  ...['id_rsa (2)', 'auth.json.2026-01-31', '.npmrc.20260131', 'secrets.json\u200b', '.bash_history-1234', 'env.local'],
  ...['token.txt', 'oauth_token.json', 'ssh_host_ed25519_key', 'deploy_key', 'local.settings.json'],
  ...['terraform.tfstate', 'terraform.tfstate.backup', 'prod.tfstate', 'terraform.tfvars', 'prod.auto.tfvars.json'],
  ...['AuthKey_ABC.p8', 'server.pem', 'tls.key', 'store.p12', 'a.pfx', 'b.jks', 'release.keystore', 'vault.kdbx'],
  ...['office.ovpn', 'krb5.keytab', 'login.keychain-db', 'putty.ppk', 'private_key.txt', 'master.key', 'key.pvk'],
  ...['id_rsa', 'id_rsa.pub', 'id_ed25519', 'sub/id_ecdsa', 'deploy_rsa', 'id_dsa.old', 'github_ed25519'],
  ...['.bash_history', '.zsh_history', '.psql_history', '.mysql_history', '.python_history', '.node_repl_history'],
  ...['.sqlite_history', '.zhistory', 'fish_history', 'ConsoleHost_history.txt', '.viminfo', '.lesshst'],
  ...['.npmrc', '.yarnrc.yml', '.pypirc', '.netrc', '_netrc', '.git-credentials', '.vault-token', '.vault_pass'],
  ...['auth.json', 'AUTH.JSON', '.composer/auth.json', 'token.json', 'token.pickle', 'github.token', '.gitlab-token'],
  ...['.pgpass', '.my.cnf', '.mylogin.cnf', '.htpasswd', '.msmtprc', '.dockercfg', '.dockerconfigjson', '.s3cfg'],
  ...['.docker/config.json', '.kube/config', 'kubeconfig', 'kubeconfig.yaml', 'dev.kubeconfig', '.aws/credentials'],
  ...['.aws/anything', '.ssh/known_hosts', '.gnupg/secring.gpg', '.azure/accessTokens.json', '.password-store/x.gpg'],
  ...['.config/gcloud/credentials.db', '.config/gcloud/access_tokens.db', '.config/gh/hosts.yml', '.m2/settings.xml'],
  ...['.cargo/credentials.toml', '.gem/credentials', '.gradle/gradle.properties', '.git/config', 'rclone.conf'],
  ...['cookies.sqlite', 'Cookies', 'Login Data', 'logins.json', 'key4.db', 'sftp-config.json', 'wp-config.php'],
  ...['.id_rsa.swp', '#.env#', 'shadow', 'passwd', 'wallet.dat', '.boto'],
  ...['secrets/db_password', 'run/secrets/token', 'config/secrets/prod.yml', 'credentials/prod.json', 'secrets.bak'],
];

const READABLE = [
  ...['.env.example', '.env.sample', '.env.template', '.env.dist', '.env.local.example', 'example.env', '.env.d.ts'],
  ...['tokenizer.json', 'tokenizer_config.json', 'tokens.json', 'design-tokens.json', 'token.ts', 'tokens.css'],
  ...['secretary.md', 'secret-santa.ts', 'secrets.ts', 'src/secrets.test.ts', 'credentials.ts', 'Credentials.java'],
  ...['auth.ts', 'auth.py', 'oauth.md', 'authors.json', 'author.json', 'src/auth/index.ts', 'password.tsx'],
  ...['passwordless.md', 'keyboard.json', 'monkey.md', 'keys.ts', 'hotkeys.json', 'env.ts', 'environment.prod.ts'],
  ...['identity.ts', 'id_map.json', 'id.ts', 'history.md', 'history.ts', 'CHANGELOG.md', 'terraform.tf', 'main.tf'],
  ...['example.tfvars', 'prod.tfvars.example', 'docker-compose.yml', 'Dockerfile', 'config.json', 'package.json'],
  ...['wp-config-sample.php', '.secrets.baseline', 'credentials.example.json', 'secrets.example.yml', '.gitignore'],
  ...['cookies.ts', 'cookie-policy.md', 'settings.xml', '.config/prettier.json', 'hosts.yml', 'service-account.ts'],
  ...['certificate.crt', 'public.asc', 'kube.ts', 'accounts.csv', 'compass.json', 'passage.txt', 'README.md'],
  ...['src/secrets/index.ts', 'crates/credentials/src/lib.rs', 'src/password/reset.ts', 'password/page.tsx'],
];

describe('the names of secret files', () => {
  it.each(SECRET)('the name is secret: %s [TOOL-26]', (path) => {
    expect(isSecretPath(path.split('/'))).toBe(true);
    expect(isSecretPath(path.toUpperCase().split('/'))).toBe(true);
    expect(isSecretPath(['some', 'folder', ...path.split('/')])).toBe(true);
  });

  it.each(READABLE)('the name is readable: %s', (path) => {
    expect(isSecretPath(path.split('/'))).toBe(false);
  });

  it('a secret name does not hide a folder of source code', () => {
    expect(isSecretPath(['src', 'secrets'], 'folder')).toBe(false);
    expect(isSecretPath(['src', 'secrets'], 'file')).toBe(true);
    expect(isSecretPath(['.ssh'], 'folder')).toBe(true);
  });

  it('names are checked in linear time', async () => {
    const cost = await cpuMsOf(() => {
      for (const piece of ['a', '-', 'secret-', 'service', '.env', '.example', 'firebase-adminsdk', '~', '.bak'])
        isSecretPath([piece.repeat(Math.ceil(255 / piece.length))]);
    });
    expect(cost).toBeLessThan(2_000);
  });

  it('data in a folder of secrets is refused, and source code in it is shown [TOOL-26]', async () => {
    const { call } = sandbox({ 'secrets/db': 'needle', 'secrets/prod.yml': 'needle', 'secrets/read.ts': 'needle' });
    expect((await call('grep', { pattern: 'needle' })).text.split('\n').slice(1)).toEqual([
      'secrets/read.ts:1: needle',
    ]);
    expect((await call('list_files', { path: 'secrets' })).text).toContain('2 secret-like not shown');
    expect(await call('read_file', { path: 'secrets/db' })).toMatchObject({ refused: true });
    expect(await call('write_file', { path: 'secrets/new', text: 'x' })).toMatchObject({ refused: true });
    expect(await call('write_file', { path: 'config/credentials', text: 'x' })).toMatchObject({ refused: true });
  });

  it('secret files are refused by every tool of a workspace [TOOL-26]', async () => {
    const names = [
      'secrets.json',
      '.vault-token',
      'service-account.json',
      'terraform.tfstate',
      'k.p8',
      '.bash_history',
    ];
    const { call } = sandbox(Object.fromEntries([...names, 'plain.json'].map((name) => [name, 'needle'])));
    for (const name of names) {
      expect((await call('read_file', { path: name })).text, name).toMatch(/^Refused: .*secrets/);
      expect((await call('write_file', { path: name, text: '' })).text, name).toMatch(/^Refused: .*secrets/);
    }
    expect((await call('grep', { pattern: 'needle' })).text.split('\n').slice(1)).toEqual(['plain.json:1: needle']);
    expect((await call('list_files', {})).text).toContain(`${names.length} secret-like not shown`);
  });
});
