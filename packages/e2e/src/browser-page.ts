/**
 * A page that lists events with the bundled client, and then the calls. The token comes after the `#`,
 * which browsers do not send.
 */
export const PAGE = `<!doctype html>
<title>Events</title>
<ol></ol>
<p></p>
<script type="module">
  import { createClient, eventSearch } from './client.js';
  const client = createClient({ baseUrl: location.origin, apiToken: location.hash.slice(1) });
  const search = eventSearch().to('ann@example.com').type('opened');
  const list = document.querySelector('ol');
  for await (const event of client.events.iterate({ search }))
    list.appendChild(document.createElement('li')).textContent = event.actionName;
  const calls = await client.calls.list().catch((error) => error);
  document.querySelector('p').textContent = calls.code ?? 'listed';
</script>
`;
