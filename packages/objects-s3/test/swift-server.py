"""
A bucket of OpenStack Swift, through its interface of Amazon's protocol. Its four servers run in one process, on one disk, which is a folder:

    python3 swift-server.py FOLDER

It prints the port of the interface, and ends when its input ends. The key is test:tester, its secret testing.
"""
import eventlet

eventlet.monkey_patch(all=False, socket=True, select=True, thread=True)

import os
import sys
from eventlet import listen, wsgi

folder = sys.argv[1]
os.environ['SWIFT_DIR'] = folder

from swift.common import utils

conf_file = os.path.join(folder, 'swift.conf')
with open(conf_file, 'w') as f:
    f.write('[swift-hash]\nswift_hash_path_suffix = reprise\n[storage-policy:0]\nname = zero\ndefault = yes\n')
utils.SWIFT_CONF_FILE = conf_file
utils.HASH_PATH_SUFFIX = b'reprise'
utils.HASH_PATH_PREFIX = b''

from swift.common import storage_policy

storage_policy.reload_storage_policies()

from swift.common.ring import RingBuilder
from swift.common.wsgi import loadapp

sockets = {name: listen(('127.0.0.1', 0)) for name in ('account', 'container', 'object', 'proxy')}
port = {name: sock.getsockname()[1] for name, sock in sockets.items()}
os.makedirs(os.path.join(folder, 'nodes', 'disk'), exist_ok=True)
for name in ('account', 'container', 'object'):
    builder = RingBuilder(2, 1, 0)
    builder.add_dev(dict(id=0, region=1, zone=1, weight=1.0, ip='127.0.0.1', port=port[name], device='disk',
                         replication_ip='127.0.0.1', replication_port=port[name]))
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, name + '.ring.gz'))

common = f"""[DEFAULT]
swift_dir = {folder}
devices = {folder}/nodes
mount_check = false
workers = 0
fallocate_reserve = 0
disable_fallocate = true
log_level = ERROR
"""
for name in ('account', 'container', 'object'):
    with open(os.path.join(folder, f'{name}.conf'), 'w') as f:
        f.write(common + f'[pipeline:main]\npipeline = {name}-server\n[app:{name}-server]\nuse = egg:swift#{name}\n')
with open(os.path.join(folder, 'proxy.conf'), 'w') as f:
    f.write(common + """[pipeline:main]
pipeline = catch_errors s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
""")


class Kept:
    """In place of memcached."""

    def __init__(self):
        self.values = {}

    def get(self, key, *args, **more):
        return self.values.get(key)

    def set(self, key, value, *args, **more):
        self.values[key] = value

    def incr(self, key, delta=1, *args, **more):
        self.values[key] = int(self.values.get(key) or 0) + delta
        return self.values[key]

    def delete(self, key, *args, **more):
        self.values.pop(key, None)


kept = Kept()


def cached(app):
    def run(env, start_response):
        env['swift.cache'] = kept
        return app(env, start_response)
    return run


class Silent:
    def write(self, *args):
        pass


for name in ('account', 'container', 'object', 'proxy'):
    app = loadapp(os.path.join(folder, f'{name}.conf'), global_conf={'log_level': 'ERROR'})
    if name == 'proxy':
        proxy = app
    eventlet.spawn(wsgi.server, sockets[name], cached(app), Silent(), log_output=False)

from swift.common.swob import Request

made = Request.blank('/v1/AUTH_test/bucket', method='PUT', environ={
    'swift.cache': kept, 'swift.authorize_override': True, 'swift.authorize': lambda req: None})
answer = made.get_response(proxy)
print(port['proxy'] if answer.is_success else f'no bucket: {answer.status}', flush=True)
eventlet.tpool.execute(sys.stdin.read)
