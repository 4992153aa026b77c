"""A relay of connections that holds up what it passes on: `relay.py --port 8080 --to 8081 --delay 40`."""

import argparse
import asyncio


async def pump(reader, writer, delay):
    try:
        while data := await reader.read(65536):
            await asyncio.sleep(delay)
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--to", type=int, required=True)
    parser.add_argument("--delay", type=float, default=0, help="ms each way")
    asked = parser.parse_args()

    async def relay(reader, writer):
        ahead_reader, ahead_writer = await asyncio.open_connection("127.0.0.1", asked.to)
        delay = asked.delay / 1000
        await asyncio.gather(pump(reader, ahead_writer, delay), pump(ahead_reader, writer, delay))

    server = await asyncio.start_server(relay, "127.0.0.1", asked.port, backlog=4096)
    await server.serve_forever()


asyncio.run(main())
