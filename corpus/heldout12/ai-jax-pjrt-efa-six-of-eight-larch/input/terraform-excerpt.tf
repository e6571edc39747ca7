# pool "larch" was added by hand on 31 Aug
resource "aws_launch_template" "larch" {
  instance_type = "trn1.32xlarge"
  dynamic "network_interfaces" {
    for_each = range(6)   # quota of ENIs in this subnet
    content {
      device_index          = network_interfaces.value == 0 ? 0 : 1
      network_card_index    = network_interfaces.value
      interface_type        = "efa"
    }
  }
}
