import { expect, test } from '@jest/globals';
import { callStarted } from '@call-webhooks/testing';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openConsole, testReceivers } from './open-console.ts';

describeInChromium('the console, when something is wrong', (chromium) => {
  const start = testReceivers();

  test.each([
    { title: 'option readOnly', input: { readOnly: true }, says: 'created with readOnly' },
    {
      title: 'somebody who may only look',
      input: { canWrite: false },
      says: 'You can view this console',
    },
  ])('read-only ($title): nothing that changes anything, and it says so', async (one) => {
    const receiver = await start({
      ...one.input,
      service: { baseUrl: 'http://127.0.0.1:9', apiToken: 'a-token' },
    });
    receiver.tell({ broken: true });
    await receiver.deliver(callStarted());
    const page = await openConsole(chromium, receiver, '?view=dead-letters');
    await page.getByText(one.says).waitFor();
    await page.locator('.top').getByText('Read-only').waitFor();
    await page.getByRole('link', { name: 'call:started' }).click();
    await page.getByText('Personal data is masked.').waitFor();
    const changing = page.getByRole('button', { name: /redrive|remove|show personal|run|stop/i });
    expect([await changing.count(), await page.getByRole('checkbox').count()]).toEqual([0, 0]);
    await page.getByRole('link', { name: 'Reconcile' }).click();
    await page.getByText('Runs that other people start will appear here.').waitFor();
    expect(await changing.count()).toBe(0);
  });

  test('a receiver that stops and is restarted', async () => {
    const receiver = await start();
    await receiver.deliver(callStarted());
    const page = await openConsole(chromium, receiver);
    const handled = page.locator('.tile', { hasText: 'Handled' });
    await handled.getByText('1', { exact: true }).waitFor();
    await receiver.stop();
    await page
      .getByText('The receiver is not responding. It may be restarting or stopped')
      .waitFor();
    await page.getByText(/The page shows data from \d\d:\d\d:\d\d/).waitFor();
    await page.locator('.top').getByText('No response').waitFor();
    await handled.getByText('1', { exact: true }).waitFor(); // the last known numbers stay
    await receiver.start();
    await page.locator('.top').getByText('Live').waitFor();
    expect(await page.getByText('The receiver is not responding').count()).toBe(0);
    await handled.getByText('1', { exact: true }).waitFor(); // the store has what was before
    receiver.tell({ broken: true });
    await receiver.deliver(callStarted());
    receiver.tell({ broken: false });
    await page.getByRole('link', { name: 'Dead letters' }).click();
    await page.getByRole('button', { name: 'Redrive all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await page.getByText('1 handled', { exact: true }).waitFor();
  });

  test('a computer that is offline', async () => {
    const receiver = await start();
    const page = await openConsole(chromium, receiver);
    await page.getByText('No deliveries yet').waitFor();
    await page.context().setOffline(true);
    await page.getByText('This computer is offline.').waitFor();
    await page.context().setOffline(false);
    await page.getByText('This computer is offline.').waitFor({ state: 'detached' });
  });

  test.each([undefined, '/login'])('a session that ended (signIn: %s)', async (signIn) => {
    const receiver = await start({ signIn });
    const page = await openConsole(chromium, receiver);
    await page.getByText('No deliveries yet').waitFor();
    receiver.tell({ allowed: false });
    await page.getByText('Your session has ended').waitFor();
    await page.locator('.top').getByText('Signed out').waitFor();
    if (signIn === undefined) await page.getByRole('button', { name: 'Reload' }).waitFor();
    else {
      const link = page.getByRole('link', { name: 'Sign in' });
      expect(await link.getAttribute('href')).toBe(signIn);
    }
    await page.reload();
    await page.getByRole('heading', { name: 'Call webhooks: console' }).waitFor();
    await page.getByText('You do not have access to this console.').waitFor();
    expect(await page.getByRole('link', { name: 'Sign in' }).count()).toBe(signIn ? 1 : 0);
    receiver.tell({ allowed: true });
    await page.reload();
    await page.locator('.top').getByText('Live').waitFor();
  });

  test('a sign-in page or a proxy that answers in place of the console', async () => {
    const receiver = await start();
    const page = await openConsole(chromium, receiver);
    await page.getByText('No deliveries yet').waitFor();
    await page.route('**/api/**', (route) =>
      route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Sign in</h1>' }),
    );
    await page.getByText('Your session has ended').waitFor();
    await page.unroute('**/api/**');
    await page.route('**/api/**', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }));
    await page.getByText('The receiver is not responding').waitFor();
  });

  test('an error of the API in its own words', async () => {
    const receiver = await start();
    const page = await openConsole(chromium, receiver, '?view=deliveries');
    await page.getByText('No deliveries yet').waitFor();
    await page.route('**/api/deliveries?**', (route) =>
      route.fulfill({
        status: 503,
        json: { error: { code: 'store-unavailable', message: 'The <b>store</b> is down.' } },
      }),
    );
    await page.getByLabel('Search', { exact: true }).fill('x');
    await page.getByRole('alert').getByText('The <b>store</b> is down.').waitFor();
    const bad = await openConsole(chromium, receiver, '?view=deliveries&outcome=nonsense');
    await bad.locator('.form-error', { hasText: /./ }).waitFor();
  });
});
