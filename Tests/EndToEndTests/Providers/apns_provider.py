# SPDX-License-Identifier: Apache-2.0
"""A provider that sends with aioapns, unmodified except for the server's address.

aioapns sends no ALPN, opens up to 1000 streams before it has read SETTINGS, matches answers by an exact apns-id, and
requires an error's body in one DATA frame. So it is a demanding client.
"""
import asyncio
import json
import logging
import ssl
import uuid

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

import wire

logging.disable(logging.CRITICAL)


class Provider:
    def __init__(self):
        self.client = None
        self.load = None
        self.load_is_wanted = False

    async def connect(self, host, port, ca_file, key_file, key_id, team_id, topic, connection_attempts=2, **_):
        # The host is not a constructor option. Only these two class attributes set it.
        APNsProductionClientProtocol.APNS_SERVER = host
        APNsProductionClientProtocol.APNS_PORT = port
        with open(key_file) as file:
            key = file.read()
        self.client = APNs(
            key=key, key_id=key_id, team_id=team_id, topic=topic, max_connections=1,
            max_connection_attempts=connection_attempts, ssl_context=ssl.create_default_context(cafile=ca_file))
        return {}

    async def send(self, notifications, concurrency=200, **_):
        """Sends all on one connection, and returns their results in the same order."""
        gate = asyncio.Semaphore(concurrency)

        async def send_one(notification):
            async with gate:
                return await self.send_one(**notification)

        return {"results": await asyncio.gather(*map(send_one, notifications))}

    async def send_one(self, token, payload, topic=None, id=None, push_type="alert", priority=None, collapse_id=None,
                       time_to_live=None, **_):
        request = NotificationRequest(
            device_token=token, message=json.loads(payload), notification_id=id, time_to_live=time_to_live,
            priority=priority, collapse_key=collapse_id, push_type=PushType(push_type), apns_topic=topic)
        result = await self.client.send_notification(request)
        return {"id": result.notification_id, "status": int(result.status), "reason": result.description,
                "timestamp": result.timestamp}

    async def start_load(self, addresses, count_per_address, **_):
        """Sends to the addresses in turn until `stop_load`, over as many connections as needed."""
        self.load_is_wanted = True
        self.load = asyncio.create_task(self.run_load(addresses, count_per_address))
        return {}

    async def run_load(self, addresses, count_per_address):
        """Sends a notification, which has its own ID, repeatedly until it is answered."""
        accepted, refused = [], {}
        for number in range(count_per_address * len(addresses)):
            address = addresses[number % len(addresses)]
            name = str(uuid.uuid4())
            while self.load_is_wanted:
                try:
                    result = await self.send_one(payload=json.dumps({"aps": {"alert": name}}), id=name, **address)
                except Exception as error:
                    reason = type(error).__name__
                else:
                    reason = result["reason"]
                    if result["status"] == 200:
                        accepted.append(name)
                        break
                refused[reason] = refused.get(reason, 0) + 1
                await asyncio.sleep(0.02)
            if not self.load_is_wanted:
                break
        return {"accepted": accepted, "refused": refused}

    async def stop_load(self, **_):
        self.load_is_wanted = False
        return await asyncio.wait_for(self.load, 60)

    async def close(self, **_):
        self.client.pool.close()
        return {}


async def main():
    provider = Provider()
    await wire.serve({name: getattr(provider, name) for name in ("connect", "send", "start_load", "stop_load", "close")})


asyncio.run(main())
