#!/bin/bash
# ran by hand 17:58, mixtral-3 had been deleted already (who?)
for i in 0 1 2 3; do kubectl -n pretrain logs mixtral-$i --previous --tail=600 > mixtral-$i.txt 2>&1; done
kubectl -n pretrain get pods -l app=mixtral -o yaml > pods.yaml
