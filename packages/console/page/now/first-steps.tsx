import { Section } from '../parts/section.tsx';

/** What to do while no delivery has come. */
export const FirstSteps = () => (
  <Section title="No delivery has come yet">
    <ol class="steps">
      <li>Point the webhook action of your rule to the URL where the receiver is mounted.</li>
      <li>
        Check it from your machine:{' '}
        <code>
          CALL_WEBHOOK_SECRET=whsec_… npx call-webhooks check --to https://your.app/hook
          --allow-external
        </code>
        . The deliveries that it sends appear here within seconds.
      </li>
      <li>Place a call. Each of its events is one delivery.</li>
    </ol>
    <p class="hint">
      Nothing after a call? Then no request reached this process: look at the rule of the service,
      the URL and the proxy. Refused requests would be counted here too.
    </p>
  </Section>
);
