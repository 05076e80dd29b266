import { execFileSync } from 'node:child_process';
import { test } from '@jest/globals';

const FLAGS = ['--import', 'tsx', '--conditions=@call-webhooks/source', '--input-type=module'];

// Jest hides warnings.
test('many attempts in flight are not reported as a leak', () => {
  const program = `
    import { createServer } from 'node:http';
    import { startSimulator } from '@call-webhooks/simulator';
    process.on('warning', () => process.exit(1));
    const waiting = [];
    const server = createServer((_request, response) => {
      if (waiting.push(response) === 30) for (const one of waiting) one.end();
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const simulator = await startSimulator({ clock: 'manual' });
    const url = 'http://127.0.0.1:' + server.address().port;
    simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    for (let started = 0; started < 30; started++) simulator.calls.start();
    await simulator.events.settled();
    await simulator.close();
    server.close();`;
  execFileSync(process.execPath, [...FLAGS, '-e', program], { stdio: 'pipe' });
});
