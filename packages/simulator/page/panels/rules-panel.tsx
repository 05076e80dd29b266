import { ActionButton, Badge, Button, span, Time } from '@call-webhooks/ui';
import type { Action, PolicyView, Rule } from '@call-webhooks/simulator/control-api';
import { ForwardForm } from '../forms.tsx';
import { callApi } from '../state/api.ts';
import { filterBy } from '../state/actions.ts';
import { PAUSE_REASONS } from '../state/labels.ts';
import { store } from '../state/store.ts';
import { openActionForm, removeAction, removeRule, renameRule, sendEvent } from './rule-forms.tsx';
import { Secret } from './secret.tsx';

/** The rules with their states, actions and secrets, and a form that creates new ones. */
export function RulesPanel() {
  const { rules, policy } = store.state;
  return (
    <>
      <h2 class="visually-hidden">Rules</h2>
      <ul class="cards" aria-label="Rules">
        {rules.map((rule) => (
          <RuleCard key={rule._id} rule={rule} />
        ))}
      </ul>
      {rules.length === 0 && <p class="none">No rules yet, so nothing is delivered.</p>}
      <details class="more" id="add-rules" hidden={rules.length === 0}>
        <summary>Forward to another receiver</summary>
        <ForwardForm primary />
      </details>
      <p class="hint policy">{policyText(policy)}</p>
    </>
  );
}

const policyText = ({ maxAttempts, retryEvery, acknowledgeWithin }: PolicyView): string =>
  `A receiver must respond 2xx within ${span(acknowledgeWithin)}. Otherwise the delivery is retried about every ${span(retryEvery)}, ` +
  `up to ${String(maxAttempts)} attempts. A 404, or a failed last attempt, pauses the rule.`;

function RuleCard({ rule }: { readonly rule: Rule }) {
  const paused = rule.state === 'paused';
  return (
    <li class="card rule" data-state={rule.state}>
      <div class="card-head">
        <h3>{rule.name}</h3>
        <Badge tone={paused ? 'bad' : 'good'} icon={paused ? 'pause' : 'check'}>
          {paused ? 'Paused' : 'Active'}
        </Badge>
      </div>
      <p class="trigger">{triggerOf(rule)}</p>
      {paused && <PauseReason rule={rule} />}
      <ul class="actions">
        {rule.actions.map((action) => (
          <ActionItem key={action._id} rule={rule} action={action} />
        ))}
      </ul>
      <div class="buttons">
        <ActionButton
          label={paused ? 'Resume' : 'Pause'}
          icon={paused ? 'forward' : 'pause'}
          kind={paused ? 'primary' : 'normal'}
          small
          run={() => callApi('POST', `/rules/${rule._id}/${paused ? 'resume' : 'pause'}`)}
        />
        <Link
          label="Deliveries"
          run={() => {
            filterBy({ ruleId: rule._id });
          }}
        />
        {rule.kind === 'rule' && <Link label="Add URL" run={() => openActionForm(rule)} />}
        <Link label="Rename" run={() => renameRule(rule)} />
        <Link label="Remove rule" run={() => removeRule(rule)} />
      </div>
    </li>
  );
}

const Link = ({ label, run }: { readonly label: string; readonly run: () => unknown }) => (
  <Button label={label} kind="ghost" small onClick={run} />
);

function triggerOf({ trigger, kind, scope }: Rule): string {
  if (kind === 'recording-webhook') return `On ${trigger}`;
  return `On ${trigger}, ${scope === 'user' ? 'calls of the owner' : 'all calls'}`;
}

function PauseReason({ rule: { pauseReason, pausedAt, scope } }: { readonly rule: Rule }) {
  if (!pauseReason || pausedAt === undefined) return null;
  const mailed = scope === 'workspace' ? 'The admins were emailed.' : 'The owner was emailed.';
  return (
    <p class="why">
      Paused at <Time at={pausedAt} />
      {`: ${PAUSE_REASONS[pauseReason]}. ${pauseReason === 'by-hand' ? '' : mailed}`}
    </p>
  );
}

function ActionItem({ rule, action }: { readonly rule: Rule; readonly action: Action }) {
  return (
    <li>
      <code class="url">{action.url}</code>
      <div class="tools">
        <Link label="Send" run={() => sendEvent(rule, action)} />
        <Link label="Edit URL" run={() => openActionForm(rule, action)} />
        {rule.kind === 'rule' && <Link label="Remove URL" run={() => removeAction(rule, action)} />}
      </div>
      {action.payload !== undefined && <p class="hint">sends a custom payload</p>}
      {action.signed ? (
        <Secret ruleId={rule._id} actionId={action._id} />
      ) : (
        <p class="hint">
          No secret: deliveries are not signed. Remove this action and add it again.
        </p>
      )}
    </li>
  );
}
