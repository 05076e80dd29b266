import {
  ActionButton,
  Badge,
  Button,
  CopyButton,
  notify,
  openForm,
  span,
  Time,
} from '@call-webhooks/ui';
import type { Action, PolicyView, Rule, SecretsView } from '@call-webhooks/simulator/control-api';
import { useRef, useState } from 'preact/hooks';
import { ForwardForm } from '../forms.tsx';
import { callApi } from '../state/api.ts';
import { PAUSE_REASONS } from '../state/labels.ts';
import { filterBy, store } from '../state/store.ts';
import { openActionForm, removeAction, removeRule } from './rule-forms.tsx';

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
      {rules.length === 0 && <p class="none">No rules yet, so nothing is sent.</p>}
      <details class="more" id="add-rules" hidden={rules.length === 0}>
        <summary>Forward to another receiver</summary>
        <ForwardForm primary />
      </details>
      <p class="hint policy">{policyText(policy)}</p>
    </>
  );
}

const policyText = ({ maxAttempts, retryEvery, acknowledgeWithin }: PolicyView): string =>
  `A receiver must return 2xx within ${span(acknowledgeWithin)}. Otherwise the service retries about every ${span(retryEvery)}, ` +
  `up to ${String(maxAttempts)} attempts. A 404 or a failed last attempt pauses the rule.`;

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
        <Link label="Events" run={() => filterBy({ ruleId: rule._id })} />
        {rule.kind === 'rule' && <Link label="Add URL" run={() => openActionForm(rule)} />}
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
        <Link label="Edit URL" run={() => openActionForm(rule, action)} />
        {rule.kind === 'rule' && <Link label="Remove URL" run={() => removeAction(rule, action)} />}
      </div>
      {action.payload !== undefined && <p class="hint">Sends a custom payload</p>}
      {action.signed ? (
        <Secret ruleId={rule._id} actionId={action._id} />
      ) : (
        <p class="hint">
          This action has no secret, so its deliveries are not signed. Remove it and add it again.
        </p>
      )}
    </li>
  );
}

const HIDDEN = 'whsec_••••••••••••';

interface SecretProps {
  readonly ruleId: string;
  readonly actionId: string;
}

/**
 * The signing secret of an action. The page fetches it only when the user shows or copies it, and
 * hides it again after a rotation.
 */
function Secret({ ruleId, actionId }: SecretProps) {
  const [shown, show] = useState<string>();
  const rotations = useRef(0);
  const toggle = async () => {
    const asked = rotations.current;
    const next = shown === undefined ? await secretOf(actionId) : undefined;
    if (asked === rotations.current) show(next);
  };
  const rotate = () =>
    openForm({
      title: 'Rotate the secret?',
      go: 'Rotate',
      danger: true,
      content: (
        <p>
          The next delivery is signed with a new secret. The receiver rejects it until it has that
          secret.
        </p>
      ),
      async run() {
        await callApi('POST', `/rules/${ruleId}/actions/${actionId}/rotate`);
        rotations.current += 1;
        show(undefined);
        notify('Rotated. The next delivery is signed with the new secret.');
      },
    });
  return (
    <div class="secret-row">
      <span class="visually-hidden">Signing secret</span>
      <code class="secret">{shown ?? HIDDEN}</code>
      <span class="tools">
        <ActionButton
          label={shown === undefined ? 'Show the secret' : 'Hide the secret'}
          icon={shown === undefined ? 'eye' : 'minus'}
          iconOnly
          kind="ghost"
          small
          run={toggle}
        />
        <CopyButton what="Secret" text={() => secretOf(actionId)} />
        <ActionButton
          label="Rotate the secret"
          title="Rotate: the next delivery is signed with a new secret"
          icon="rotate"
          iconOnly
          kind="ghost"
          small
          run={rotate}
        />
      </span>
    </div>
  );
}

async function secretOf(actionId: string): Promise<string> {
  const secrets = await callApi<SecretsView>('GET', '/secrets');
  return secrets[actionId]?.current ?? '';
}
