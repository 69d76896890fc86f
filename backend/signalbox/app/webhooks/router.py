"""/api/webhooks: the receivers of events, their deliveries, and tests of them; for the operator."""

import secrets
from dataclasses import replace
from time import time

import structlog
from fastapi import APIRouter, Request
from msgspec import to_builtins

from signalbox.app.access import OperatorDep
from signalbox.app.audit.details import webhook_changed, webhook_created, webhook_rotated
from signalbox.app.audit.entries import entry_of
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body, json_response
from signalbox.app.openapi.response_types import Deleted
from signalbox.app.openapi.webhook_bodies import CreateWebhook, RotateWebhook, UpdateWebhook
from signalbox.app.openapi.webhook_types import Webhook, WebhookDeliveries, WebhookDelivery, WebhookList, WebhookSecret
from signalbox.app.request.body import read_model
from signalbox.app.request.paging import Before, Limit, cursor_at, cursor_in
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.operation.webhooks import Delivery, Receiver
from signalbox.store import webhooks as stored
from signalbox.store.audit import audited, audited_change
from signalbox.store.webhook_deliveries import list_deliveries
from signalbox.webhooks.signing import new_secret

router = APIRouter(prefix="/api/webhooks", tags=["webhooks"], route_class=KnownParameters)
_log = structlog.get_logger()
_BODY_LIMIT = 20_000
_MOST_RECEIVERS = 50


@router.get("", response_model=None, responses={200: json_response(WebhookList), **api_errors()})
async def list_webhooks(services: ServicesDep, _: OperatorDep) -> WebhookList:
    """List the receivers of events; needs the operator token."""
    return {"webhooks": [_webhook(one) for one in await services.database.read(stored.list_receivers)]}


@router.post(
    "",
    response_model=None,
    status_code=201,
    responses={201: json_response(WebhookSecret), **api_errors(*BODY_ERRORS)},
    openapi_extra=json_body(CreateWebhook),
)
async def create_webhook(request: Request, services: ServicesDep, operator: OperatorDep) -> WebhookSecret:
    """Register a receiver of events; needs the operator token. Only this response contains its secret."""
    wanted = await read_model(request, CreateWebhook, _BODY_LIMIT)
    _check_url(wanted.url, services)
    receiver = Receiver(
        id=f"wh_{secrets.token_hex(8)}",
        url=wanted.url,
        events=tuple(dict.fromkeys(wanted.events)),
        secret=new_secret(),
        created=time(),
        description=wanted.description,
        active=wanted.active,
    )
    entry = webhook_created(operator, receiver)
    try:
        await services.database.write(audited, lambda _: entry, stored.add_receiver, receiver, _MOST_RECEIVERS)
    except stored.TooManyReceivers:
        words = f"There are already {_MOST_RECEIVERS} webhooks. Delete one first."
        raise RequestError(Code.INVALID_REQUEST, words, "url") from None
    services.webhooks.receivers_changed()
    _log.info("webhook.created", webhook_id=receiver.id, events=wanted.events)
    return {**_webhook(receiver), "secret": receiver.secret}


@router.patch(
    "/{webhook_id}",
    response_model=None,
    responses={200: json_response(Webhook), **api_errors(*BODY_ERRORS, Code.UNKNOWN_WEBHOOK)},
    openapi_extra=json_body(UpdateWebhook),
)
async def update_webhook(webhook_id: str, request: Request, services: ServicesDep, operator: OperatorDep) -> Webhook:
    """Change the URL, the events, the description or the activity of a receiver; needs the operator token.

    Pending deliveries go to the new URL. All workers apply the change within a second.
    """
    wanted = await read_model(request, UpdateWebhook, _BODY_LIMIT)
    if wanted.url is not None:
        _check_url(wanted.url, services)

    def changed(receiver: Receiver) -> Receiver:
        return replace(
            receiver,
            url=receiver.url if wanted.url is None else wanted.url,
            events=receiver.events if wanted.events is None else tuple(dict.fromkeys(wanted.events)),
            description=receiver.description if wanted.description is None else wanted.description,
            active=receiver.active if wanted.active is None else wanted.active,
            disabled=None if wanted.active is not None else receiver.disabled,
        )

    receiver = _found(
        await services.database.write(
            audited_change, webhook_changed(operator), stored.change_receiver, webhook_id, changed
        )
    )
    services.webhooks.receivers_changed()
    _log.info("webhook.changed", webhook_id=webhook_id, fields=sorted(wanted.model_fields_set))
    return _webhook(receiver)


@router.delete(
    "/{webhook_id}",
    response_model=None,
    responses={200: json_response(Deleted), **api_errors(Code.UNKNOWN_WEBHOOK)},
)
async def delete_webhook(webhook_id: str, services: ServicesDep, operator: OperatorDep) -> Deleted:
    """Delete a receiver with its pending deliveries and its log; needs the operator token."""
    entry = entry_of(operator, "webhook.deleted", {"webhook": webhook_id})
    if not await services.database.write(
        audited, lambda is_deleted: entry if is_deleted else None, stored.delete_receiver, webhook_id
    ):
        raise RequestError(Code.UNKNOWN_WEBHOOK)
    services.webhooks.receivers_changed()
    _log.info("webhook.deleted", webhook_id=webhook_id)
    return {"deleted": True}


@router.post(
    "/{webhook_id}/rotate",
    response_model=None,
    responses={200: json_response(WebhookSecret), **api_errors(*BODY_ERRORS, Code.UNKNOWN_WEBHOOK)},
    openapi_extra=json_body(RotateWebhook),
)
async def rotate_webhook(
    webhook_id: str, request: Request, services: ServicesDep, operator: OperatorDep
) -> WebhookSecret:
    """Give a receiver a new secret; needs the operator token.

    For `grace_seconds`, requests have two signatures: with the new secret and with the former one.
    """
    wanted = await read_model(request, RotateWebhook, _BODY_LIMIT)

    def rotated(receiver: Receiver) -> Receiver:
        until = time() + wanted.grace_seconds if wanted.grace_seconds else None
        former = receiver.secret if until is not None else None
        return replace(receiver, secret=new_secret(), former_secret=former, former_until=until)

    entry = webhook_rotated(operator, wanted.grace_seconds)
    receiver = _found(await services.database.write(audited_change, entry, stored.change_receiver, webhook_id, rotated))
    _log.info("webhook.rotated", webhook_id=webhook_id, grace_seconds=wanted.grace_seconds)
    return {**_webhook(receiver), "secret": receiver.secret}


@router.post(
    "/{webhook_id}/test",
    response_model=None,
    responses={200: json_response(WebhookDelivery), **api_errors(Code.UNKNOWN_WEBHOOK)},
)
async def send_test_event(webhook_id: str, services: ServicesDep, _: OperatorDep) -> WebhookDelivery:
    """Send a test event to a receiver, also to an inactive one, and return the result; needs the operator token."""
    receiver = _found(await services.database.read(stored.find_receiver, webhook_id))
    return _delivery(await services.webhooks.test(receiver))


@router.get(
    "/{webhook_id}/deliveries",
    response_model=None,
    responses={200: json_response(WebhookDeliveries), **api_errors(Code.INVALID_REQUEST, Code.UNKNOWN_WEBHOOK)},
)
async def list_webhook_deliveries(
    webhook_id: str, services: ServicesDep, _: OperatorDep, limit: Limit = 50, before: Before = None
) -> WebhookDeliveries:
    """List the deliveries to a receiver of the last seven days, newest first; needs the operator token."""
    _found(await services.database.read(stored.find_receiver, webhook_id))
    found = await services.database.read(list_deliveries, webhook_id, limit + 1, cursor_in(before))
    shown = found[:limit]
    last = shown[-1] if len(found) > limit else None
    return {
        "deliveries": [_delivery(one) for one in shown],
        "next": cursor_at(last.created, last.id) if last else None,
    }


def _check_url(url: str, services: Services) -> None:
    try:
        services.webhooks.post.target(url)
    except ValueError as error:
        raise RequestError(Code.INVALID_REQUEST, f"The URL {error}.", "url") from None


def _found(receiver: Receiver | None) -> Receiver:
    if receiver is None:
        raise RequestError(Code.UNKNOWN_WEBHOOK)
    return receiver


def _webhook(receiver: Receiver) -> Webhook:
    return {
        "id": receiver.id,
        "url": receiver.url,
        "events": [*receiver.events],
        "description": receiver.description,
        "active": receiver.active,
        "disabled": receiver.disabled,
        "created": receiver.created,
        "former_until": receiver.former_until,
    }


def _delivery(delivery: Delivery) -> WebhookDelivery:
    return {
        "id": delivery.id,
        "kind": delivery.kind,
        "state": delivery.state,
        "created": delivery.created,
        "ended": delivery.ended,
        "next_attempt": delivery.next_at,
        "attempts": [to_builtins(one) for one in delivery.attempts],
    }
