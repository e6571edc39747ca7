#!/bin/bash
for h in bay11 bay12 bay13 bay14; do
  mkdir -p $h
  ssh $h 'docker logs --tail 240 $(docker ps -aq --filter name=pre- | head -1)' > $h/docker-logs-tail240.txt 2>&1
  ssh $h 'sudo dmesg' > $h/dmesg.txt
done
